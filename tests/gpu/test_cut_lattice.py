"""A lattice cut among GPUs, or on one, gives the CPU's bits: by every transport, on every grid, with and without overlap."""

from __future__ import annotations

import math
import os

import pytest
from gpus import gpu_count

pytestmark = pytest.mark.gpu

PHASES = "0.3,antiperiodic,periodic,0.5"
REQUESTS = {
    "fp64-18": ["--sloppy", "none", "--links", 18],
    "fp64-12": ["--sloppy", "none", "--links", 12, "--boundary", PHASES],
    "fp32-18": ["--precision", "fp32", "--links", 18, "--boundary", PHASES],
    "fp32-12": ["--precision", "fp32", "--links", 12],
    "fp64-8": ["--sloppy", "none", "--links", 8],
    "fp32-8": ["--precision", "fp32", "--links", 8, "--boundary", PHASES],
    "fp64-18-fp32-18": ["--sloppy", "fp32", "--sloppy-links", 18],
    "fp64-12-fp32-12": ["--links", 12, "--sloppy", "fp32", "--sloppy-links", 12, "--boundary", PHASES],
    "fp64-18-fp16-18": ["--sloppy", "fp16", "--sloppy-links", 18, "--boundary", PHASES],
    "fp64-12-fp16-12": ["--links", 12, "--sloppy", "fp16", "--sloppy-links", 12],
    "fp64-8-fp16-8": ["--links", 8, "--sloppy", "fp16", "--sloppy-links", 8],
}
GRIDS = ["1,1,1,2", "2,1,1,1", "1,2,1,1", "1,1,1,4", "2,1,1,2", "1,2,2,1", "2,2,1,2", "1,1,2,4", "2,2,2,2"]


@pytest.fixture(scope="module")
def check(solve_many, gauge_to_cut):
    """check(n_rhs, transport, *options, ranks=1, requests=REQUESTS): every request, so cut, has the answer of the CPU."""

    def run(n_rhs, transport, *options, ranks=1, requests=REQUESTS):
        request = ("--mass", 0.2, "--source", "gaussian:5", "--noise-vectors", n_rhs)
        named = ("--transport", transport) if ranks > 1 else ()
        found = solve_many(gauge_to_cut, requests, *request, *named, *options, ranks=ranks)
        assert {report["transport"] for report in found.reports} == {transport}
        assert found.statuses == {0}
        assert found.answers == solve_many(gauge_to_cut, requests, *request, "--device", "cpu").answers

    return run


def ranks_on(grid):
    return math.prod(map(int, grid.split(",")))


@pytest.mark.parametrize("n_rhs, loopback", [(n, cut) for n in (1, 4) for cut in ("x", "y", "z", "t", "xt", "yz", "xyzt")]
                         + [(16, "t"), (16, "xyzt")])
def test_loopback_has_the_bits_of_the_cpu(check, n_rhs, loopback):
    check(n_rhs, "self", "--device", "cuda", "--loopback", loopback)


@pytest.mark.parametrize("overlap", ["on", "off"])
@pytest.mark.parametrize("grid", ["1,1,1,2", "2,1,1,1", "1,1,2,2"])
@pytest.mark.parametrize("transport", ["staged", "mapped", "cuda-aware"])
def test_ranks_that_share_a_gpu_have_the_bits_of_the_cpu(check, transport, grid, overlap):
    check(1, transport, "--device", "cuda:0", "--grid", grid, "--overlap", overlap, ranks=ranks_on(grid))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("transport", ["p2p", "nccl", "staged", "mapped", "cuda-aware"])
def test_gpus_have_the_bits_of_the_cpu(check, transport, grid):
    ranks = ranks_on(grid)
    if transport in ("p2p", "nccl") and ranks > gpu_count():
        pytest.skip(f"{transport} on grid {grid} needs {ranks} GPUs, there are {gpu_count()}")
    check(1, transport, "--device", "cuda", "--grid", grid, ranks=ranks)


def test_gpus_have_the_bits_of_the_cpu_for_many_right_hand_sides(check):
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    requests = {name: REQUESTS[name] for name in ("fp64-12", "fp32-12")}
    check(16, "p2p", "--device", "cuda", "--grid", "1,1,1,2", ranks=2, requests=requests)


@pytest.mark.parametrize("transport", ["nccl", "staged", "cuda-aware"])
def test_loopback_beside_a_cut_among_ranks(check, transport):
    check(2, transport, "--device", "cuda", "--grid", "1,1,1,2", "--loopback", "xz", ranks=2)


@pytest.mark.parametrize("transport", ["p2p", "nccl"])
def test_transports_that_wait_on_the_gpu_are_refused_where_ranks_share_one(staghorn, gauge_to_cut, transport):
    result = staghorn("solve", "--gauge", gauge_to_cut, "--mass", 0.2, "--device", "cuda:0", "--transport", transport, ranks=2)
    assert result.returncode == 1
    if "no NCCL library was found" not in result.stderr:
        assert "share a GPU" in result.stderr


def test_a_library_of_nccl_that_cannot_be_loaded_is_no_obstacle_to_others(staghorn, gauge_to_cut, tmp_path):
    (tmp_path / "libnccl.so.2").write_text("not a library")
    (tmp_path / "libnccl.so").write_text("not a library")
    request = ["solve", "--gauge", gauge_to_cut, "--mass", 1, "--device", "cuda:0"]
    env = {"LD_LIBRARY_PATH": f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    assert staghorn(*request, ranks=2, env=env).returncode == 0
    result = staghorn(*request, "--transport", "nccl", ranks=2, env=env)
    assert result.returncode == 1
    assert "nccl cannot be used here" in result.stderr and str(tmp_path) in result.stderr
