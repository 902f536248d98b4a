"""The loop of CG runs in the form asked for and gives the bits of the CPU: as one kernel, as a wide one and as two, on one GPU,
cut on it, and on several by p2p; and with faces by NCCL or by the host."""

from __future__ import annotations

import json
import math

import h5py
import pytest

from gpus import LOOP_OF_CHOICE, gpu_count

pytestmark = pytest.mark.gpu

PHASES = "0.3,antiperiodic,periodic,0.5"

REQUESTS = {
    "fp64-18": ["--sloppy", "none", "--links", 18],
    "fp64-12": ["--sloppy", "none", "--links", 12, "--boundary", PHASES],
    "fp64-8": ["--sloppy", "none", "--links", 8],
    "fp32-18": ["--precision", "fp32", "--links", 18, "--boundary", PHASES],
    "fp32-12": ["--precision", "fp32", "--links", 12],
    "fp32-8": ["--precision", "fp32", "--links", 8, "--boundary", PHASES],
    "fp64-18-fp32-12": ["--sloppy", "fp32", "--sloppy-links", 12],
    "fp64-18-fp16-18": ["--sloppy", "fp16", "--sloppy-links", 18, "--boundary", PHASES],
    "fp64-18-fp16-12": ["--sloppy", "fp16", "--sloppy-links", 12],
    "fp64-18-fp16-8": ["--sloppy", "fp16", "--sloppy-links", 8],
}
CUTS = {
    "whole": [],
    "loop-back in x": ["--loopback", "x"],
    "loop-back in y, z, t": ["--loopback", "yzt"],
    "1,1,1,2": ["--grid", "1,1,1,2"],
    "2,1,1,2": ["--grid", "2,1,1,2"],
    "1,2,2,2": ["--grid", "1,2,2,2"],
}


@pytest.fixture(scope="module")
def check(solve_many, gauge_to_cut):
    """check(requests, n_rhs, cut, transport, kernels, status): every request runs in the form asked for, has the answer of the
    CPU, and ends alike."""

    def run(requests, n_rhs, cut, transport, kernels, status):
        ranks = ranks_of(cut)
        request = ("--mass", 0.2, "--source", "gaussian:5", "--noise-vectors", n_rhs)
        between = ("--transport", transport) if ranks > 1 else ()
        found = solve_many(gauge_to_cut, requests, *request, "--device", "cuda", *CUTS[cut], *between, ranks=ranks,
                           env={"STAGHORN_CG_KERNELS": kernels})
        assert found.statuses == {status}
        form = {"nccl": "nccl", "staged": "host"}.get(transport) or LOOP_OF_CHOICE[kernels]
        assert [report["loop"] for report in found.reports] == [form] * len(requests)
        assert found.answers == solve_many(gauge_to_cut, requests, *request, "--device", "cpu").answers

    return run


@pytest.fixture(scope="module")
def solve_large(staghorn, tmp_path_factory):
    """solve_large(*options) -> bytes of the solution after 7 iterations on so many sites that GPUs' blocks take chunks, and the
    form of the loop."""
    folder = tmp_path_factory.mktemp("large")
    gauge, output, report = folder / "hot.h5", folder / "x.h5", folder / "x.json"
    staghorn("generate", "--lattice", 24, 24, 24, 24, "--start", "hot", "--sweeps", 0, "--seed", 3, "--output", gauge, check=True)

    def run(*options, kernels="auto"):
        result = staghorn("solve", "--gauge", gauge, "--mass", 0.2, "--source", "gaussian:5", "--max-iterations", 7, "--output",
                          output, "--report", report, "--force", *options, env={"STAGHORN_CG_KERNELS": kernels})
        assert result.returncode == 3, result.stderr
        with h5py.File(output) as file:
            return file["solution"][...].tobytes(), json.loads(report.read_text())["loop"]

    return run


def ranks_of(cut):
    ranks = math.prod(map(int, cut.split(","))) if "--grid" in CUTS[cut] else 1
    if ranks > gpu_count():
        pytest.skip(f"needs {ranks} GPUs, found {gpu_count()}")
    return ranks


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("kernels, n_rhs", [("one", 1), ("one", 3), ("wide", 1), ("wide", 3), ("two", 1)])
def test_all_forms_give_the_cpus_bits(check, kernels, n_rhs, cut):
    check(REQUESTS, n_rhs, cut, "p2p", kernels, status=0)


@pytest.mark.parametrize("cut", ["loop-back in x", "1,1,1,2"])
@pytest.mark.parametrize("transport, kernels", [("p2p", "one"), ("p2p", "wide"), ("p2p", "two"), ("nccl", "two"),
                                                ("staged", "two")])
def test_every_form_stops_after_odd_and_even_iterations_as_the_cpu_does(check, transport, kernels, cut):
    if ranks_of(cut) == 1 and transport != "p2p":
        pytest.skip("one GPU has one transport")
    requests = {(name, n): [*REQUESTS[name], "--max-iterations", n]
                for name in ("fp64-12", "fp32-8", "fp64-18-fp32-12", "fp64-18-fp16-12") for n in (1, 6, 16, 17)}  # p is given to the 17th
    check(requests, 3, cut, transport, kernels, status=3)


@pytest.mark.parametrize("kernels", ["one", "wide", "two"])
@pytest.mark.parametrize("request_name", ["fp64-12", "fp32-12", "fp32-8", "fp64-12-fp16-12", "fp64-18-fp16-18"])
def test_chunks_that_blocks_take_change_no_bit(solve_large, request_name, kernels):
    request = REQUESTS.get(request_name, ["--links", 12, "--sloppy", "fp16"])
    found, form = solve_large("--device", "cuda", *request, kernels=kernels)
    assert form == LOOP_OF_CHOICE[kernels]
    assert (found, "host") == solve_large("--device", "cpu", *request)
