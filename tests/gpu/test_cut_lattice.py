"""A lattice cut among GPUs, or on one, gives the CPU's bits: by every transport, on every grid, with and without overlap."""

from __future__ import annotations

import json
import os

import h5py
import pytest

from gpus import gpu_count

pytestmark = pytest.mark.gpu

PHASES = "0.3,antiperiodic,periodic,0.5"
REQUESTS = {
    "fp64-18": ["--links", 18],
    "fp64-12": ["--links", 12, "--boundary", PHASES],
    "fp32-18": ["--precision", "fp32", "--links", 18, "--boundary", PHASES],
    "fp32-12": ["--precision", "fp32", "--links", 12],
    "fp64-8": ["--links", 8],
    "fp32-8": ["--precision", "fp32", "--links", 8, "--boundary", PHASES],
    "fp64-18-fp32-18": ["--sloppy", "fp32", "--sloppy-links", 18],
    "fp64-12-fp32-12": ["--links", 12, "--sloppy", "fp32", "--sloppy-links", 12, "--boundary", PHASES],
    "fp64-18-fp16-18": ["--sloppy", "fp16", "--sloppy-links", 18, "--boundary", PHASES],
    "fp64-12-fp16-12": ["--links", 12, "--sloppy", "fp16", "--sloppy-links", 12],
    "fp64-8-fp16-8": ["--links", 8, "--sloppy", "fp16", "--sloppy-links", 8],
}
GRIDS = ["1,1,1,2", "2,1,1,1", "1,2,1,1", "1,1,1,4", "2,1,1,2", "1,2,2,1", "2,2,1,2", "1,1,2,4", "2,2,2,2"]


@pytest.fixture(scope="module")
def require(staghorn, gauge):
    """require(transport, device) skips the test where two ranks cannot use it on that device, and says why."""
    found = {}

    def require(transport, device="cuda"):
        if transport not in ("nccl", "cuda-aware"):  # which need a library that need not be there
            return
        if transport not in found:
            result = staghorn("solve", "--gauge", gauge, "--mass", 1, "--device", device, "--transport", transport, ranks=2)
            found[transport] = result.stderr if f"{transport} cannot be used here" in result.stderr else ""
        if found[transport]:
            pytest.skip(found[transport].strip())

    return require


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gpu") / "hot.h5"
    staghorn("generate", "--lattice", 8, 4, 12, 16, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def solve(staghorn, gauge, tmp_path_factory):
    """solve(request, n_rhs, *options, ranks=1) -> bytes of the solution, histories, transport."""
    folder = tmp_path_factory.mktemp("solve")

    def run(request, n_rhs, *options, ranks=1, env=None):
        output, report = folder / "x.h5", folder / "x.json"
        staghorn("solve", "--gauge", gauge, "--mass", 0.2, "--source", "gaussian:5", "--noise-vectors", n_rhs, "--output",
                 output, "--report", report, "--force", *REQUESTS[request], *options, ranks=ranks, env=env, check=True)
        with h5py.File(output) as file:
            solution = file["solution"][...].tobytes()
        found = json.loads(report.read_text())
        return solution, [rhs["history"] for rhs in found["rhs"]], found["transport"]

    return run


@pytest.fixture(scope="module")
def on_cpu(solve):
    """The CPU's answers, each computed once."""
    answers = {}

    def answer(request, n_rhs):
        if (request, n_rhs) not in answers:
            answers[request, n_rhs] = solve(request, n_rhs, "--device", "cpu")[:2]
        return answers[request, n_rhs]

    return answer


@pytest.mark.parametrize("n_rhs, loopback", [(n, cut) for n in (1, 4) for cut in ("x", "y", "z", "t", "xt", "yz", "xyzt")]
                         + [(16, "t"), (16, "xyzt")])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_loopback_has_the_bits_of_the_cpu(solve, on_cpu, request_name, n_rhs, loopback):
    solution, history, transport = solve(request_name, n_rhs, "--device", "cuda", "--loopback", loopback)
    assert transport == "self"
    assert history == on_cpu(request_name, n_rhs)[1]
    assert solution == on_cpu(request_name, n_rhs)[0]


@pytest.mark.parametrize("overlap", ["on", "off"])
@pytest.mark.parametrize("grid", ["1,1,1,2", "2,1,1,1", "1,1,2,2"])
@pytest.mark.parametrize("transport", ["staged", "mapped", "cuda-aware"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_ranks_that_share_a_gpu_have_the_bits_of_the_cpu(solve, on_cpu, require, request_name, transport, grid, overlap):
    require(transport, "cuda:0")
    ranks = eval(grid.replace(",", "*"))
    solution, history, used = solve(request_name, 1, "--device", "cuda:0", "--grid", grid, "--transport", transport,
                                    "--overlap", overlap, ranks=ranks)
    assert used == transport
    assert history == on_cpu(request_name, 1)[1]
    assert solution == on_cpu(request_name, 1)[0]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("transport", ["p2p", "nccl", "staged", "mapped", "cuda-aware"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_gpus_have_the_bits_of_the_cpu(solve, on_cpu, require, request_name, transport, grid):
    ranks = eval(grid.replace(",", "*"))
    if transport in ("p2p", "nccl") and ranks > gpu_count():
        pytest.skip(f"{transport} on grid {grid} needs {ranks} GPUs, there are {gpu_count()}")
    require(transport)
    solution, history, used = solve(request_name, 1, "--device", "cuda", "--grid", grid, "--transport", transport,
                                    ranks=ranks)
    assert used == transport
    assert history == on_cpu(request_name, 1)[1]
    assert solution == on_cpu(request_name, 1)[0]


@pytest.mark.parametrize("request_name", ["fp64-12", "fp32-12"])
def test_gpus_have_the_bits_of_the_cpu_for_many_right_hand_sides(solve, on_cpu, request_name):
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    solution, history, used = solve(request_name, 16, "--device", "cuda", "--grid", "1,1,1,2", "--transport", "p2p", ranks=2)
    assert used == "p2p"
    assert history == on_cpu(request_name, 16)[1]
    assert solution == on_cpu(request_name, 16)[0]


@pytest.mark.parametrize("transport", ["nccl", "staged", "cuda-aware"])
def test_loopback_beside_a_cut_among_ranks(solve, on_cpu, require, transport):
    require(transport)
    solution, history, used = solve("fp64-18", 2, "--device", "cuda", "--grid", "1,1,1,2", "--loopback", "xz",
                                    "--transport", transport, ranks=2)
    assert used == transport
    assert (solution, history) == on_cpu("fp64-18", 2)


@pytest.mark.parametrize("transport", ["p2p", "nccl"])
def test_transports_that_wait_on_the_gpu_are_refused_where_ranks_share_one(staghorn, gauge, transport):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.2, "--device", "cuda:0", "--transport", transport, ranks=2)
    assert result.returncode == 1
    if "no NCCL library was found" not in result.stderr:
        assert "share a GPU" in result.stderr


def test_a_library_of_nccl_that_cannot_be_loaded_is_no_obstacle_to_others(staghorn, gauge, tmp_path):
    (tmp_path / "libnccl.so.2").write_text("not a library")
    (tmp_path / "libnccl.so").write_text("not a library")
    request = ["solve", "--gauge", gauge, "--mass", 1, "--device", "cuda:0"]
    env = {"LD_LIBRARY_PATH": f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    assert staghorn(*request, ranks=2, env=env).returncode == 0
    result = staghorn(*request, "--transport", "nccl", ranks=2, env=env)
    assert result.returncode == 1
    assert "nccl cannot be used here" in result.stderr and str(tmp_path) in result.stderr
