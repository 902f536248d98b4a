"""Vectors of a host that lie on a GPU: the bits of the same call with vectors of the host, and what must be refused."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.gpu


def ran(result) -> str:
    assert result.returncode != 77, "no driver of CUDA was found"
    assert result.returncode == 0 and result.stdout.splitlines()[-1] == "ok", result.stdout + result.stderr
    return result.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("kind, grid", [("device", "1 1 1 1"), ("device", "1 2 1 2"), ("improved-device", "1 1 1 1")])
def test_fields_of_every_order_and_convention_may_lie_on_a_gpu(run_built, kind, grid):
    cut = grid.split()
    ranks = 1 if grid == "1 1 1 1" else 4
    ran(run_built("fake_hosts", kind, *cut, ranks=ranks, threads=1))


def test_wrong_pointers_are_refused_and_streams_are_awaited(run_built):
    ran(run_built("device_host", "pointers", threads=2))


def test_memory_of_the_gpu_does_not_grow(run_built):
    """Memory that is not given back is missing each time; what other processes take meanwhile is not."""
    grown = []
    while len(grown) < 3 and min(grown, default=1) > 0:
        grown.append(int(re.search(r"grown (-?\d+) bytes", ran(run_built("device_host", "cycles", 60, threads=1)))[1]))
    assert min(grown) <= 0, grown


def test_calls_of_cuda_may_fail(run_built):
    text = ran(run_built("device_host", "faults", 23, threads=1))
    calls, refused, others = map(int, re.search(r"faults: (\d+) calls of CUDA, (\d+) refused, (\d+) with", text).groups())
    assert calls > 200 and refused > 5 and others == 0, text
