"""Arrays of other libraries on the host: links, hop and solves have the bits of NumPy's, and results are of their library."""

from __future__ import annotations

import pytest
from array_libraries import array_library, check_library

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")


@pytest.mark.parametrize("name", ["numpy", "jax", "torch"])
def test_arrays_on_the_host_have_the_bits_of_numpy(name):
    check_library(array_library(name, gpu=False))
