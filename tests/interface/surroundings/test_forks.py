"""A child that was forked after calls with several threads works, or is told at once what it cannot do."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_children_have_the_bits_of_their_parent(run_built, threads):
    result = run_built("forked_host", threads, threads=threads)
    assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr


@pytest.mark.gpu
def test_children_do_not_have_the_gpu_of_their_parent(run_built):
    result = run_built("forked_host", 2, 0, threads=2)
    assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr
