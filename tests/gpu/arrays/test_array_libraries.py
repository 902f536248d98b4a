"""Arrays that lie on a GPU: links, hop and solves have the bits of NumPy's arrays on the CPU, and results stay on the GPU."""

from __future__ import annotations

import pytest
from array_libraries import array_library, check_library

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cupy", "torch", "jax"])
def test_arrays_on_a_gpu_have_the_bits_of_numpy_on_the_cpu(name):
    check_library(array_library(name, gpu=True), device=0)
