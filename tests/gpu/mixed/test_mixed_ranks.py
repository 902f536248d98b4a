"""Ranks on CPUs beside ranks on a GPU, on one lattice, give the bits of CPUs alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from gpus import gpu_count
from solve_files import solution_bytes

pytestmark = pytest.mark.gpu

PHASES = "0.3,antiperiodic,periodic,0.5"
MANY = ["--source", "gaussian:5", "--noise-vectors", 3]
REQUESTS = {
    "fp64-18": ["--sloppy", "none", "--links", 18, "--boundary", PHASES],
    "fp64-12": ["--sloppy", "none", "--links", 12, *MANY],
    "fp64-8": ["--sloppy", "none", "--links", 8, "--system", "odd", *MANY],
    "fp32-18": ["--precision", "fp32", *MANY],
    "fp32-8": ["--precision", "fp32", "--links", 8],
    "fp64-12-fp32-12": ["--links", 12, "--sloppy", "fp32", "--sloppy-links", 12],
    "fp64-18-fp16-12": ["--sloppy", "fp16", "--sloppy-links", 12, *MANY],
    "fp64-18-fp16-18": ["--sloppy", "fp16", "--sloppy-links", 18, "--boundary", PHASES],
    "hisq": ["--sloppy", "none", "--action", "hisq", "--phases", "milc"],
    "hisq-fp16": ["--action", "hisq", "--sloppy", "fp16", *MANY],
    "block": ["--sloppy", "none", "--solver", "block", *MANY],
    "block-fp32": ["--solver", "block", "--sloppy", "fp32", *MANY],
    "batch": ["--sloppy", "none", "--batch", 2, *MANY],
}
MASSES = {"masses": ["--sloppy", "none", "--masses", "0.2,0.4,0.9"], "masses-fp32": ["--masses", "0.2,0.4,0.9", "--sloppy", "fp32"]}
ENDS = {"STAGHORN_WATCHDOG": "60"}
# ranks on each device, in the order of the ranks
DEVICES = {"1,1,1,2": "cuda:0,cpu", "2,1,1,1": "cpu,cuda:0", "1,1,2,2": "cuda:0,cpu", "1,2,1,2": "cpu,cuda:0,cpu,cpu"}


@pytest.fixture(scope="module")
def rough(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gauge") / "rough.h5"
    staghorn("generate", "--lattice", 8, 8, 12, 16, "--beta", 6, "--sweeps", 3, "--seed", 3, "--device", "cpu", "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def check(solve_many, rough):
    def run(grid, *options, requests=None, devices=None):
        wanted = requests or REQUESTS
        common = () if wanted is MASSES else ("--mass", 0.3)
        devices = devices or DEVICES[grid]
        found = solve_many(rough, wanted, *common, "--device", devices, "--grid", grid, *options, ranks=math.prod(map(int, grid.split(","))),
                           env=ENDS)
        like = solve_many(rough, wanted, *common, "--device", "cpu")
        names = devices.split(",")
        for name, report in zip(wanted, found.reports):
            kinds = [device.split(":")[0] for device in report["devices"]]
            assert kinds == [names[i % len(names)].split(":")[0] for i in range(len(kinds))], name
            assert report["unlike_ranks"] and report["loop"] in ("host", "block"), name
            assert report["transport"].split("+")[-1] in ("staged", "mapped", "cuda-aware", "mpi"), name
        assert found.statuses == {0}
        assert {name: found.answers[name] == like.answers[name] for name in wanted} == dict.fromkeys(wanted, True)
        return found

    return run


@pytest.mark.parametrize("grid", DEVICES)
def test_mixed_ranks_have_the_bits_of_the_cpu(check, grid):
    check(grid)


def test_mixed_ranks_solve_many_masses(check):
    check("1,1,1,2", requests=MASSES)


@pytest.mark.parametrize("overlap", ["on", "off"])
@pytest.mark.parametrize("transport", ["staged", "mapped"])
def test_transports_between_unlike_ranks(check, transport, overlap):
    some = {name: REQUESTS[name] for name in ("fp64-18", "fp64-18-fp16-12")}
    found = check("1,1,1,2", "--transport", transport, "--overlap", overlap, "--loopback", "x", requests=some)
    assert {report["transports"]["chosen"] for report in found.reports} == {transport}


@pytest.mark.parametrize("grid, devices", [("1,1,1,3", "cuda:0,cuda:1,cpu"), ("1,1,2,2", "cpu,cuda:0,cpu,cuda:1")])
@pytest.mark.parametrize("transport", ["p2p", "nccl"])
def test_faces_between_the_gpus_of_mixed_ranks_go_their_own_way(check, transport, grid, devices):
    if gpu_count() < 2:
        pytest.skip(f"{transport} needs 2 GPUs, there are {gpu_count()}")
    found = check(grid, "--transport", transport, "--loopback", "x", devices=devices)
    assert {report["transports"]["chosen"].split("+")[0] for report in found.reports} == {transport}
    assert {report["transport"].split("+")[-1] for report in found.reports} <= {"staged", "mapped", "cuda-aware"}


def test_certificate_of_mixed_ranks_runs_on_the_host(check):
    check("1,1,1,2", "--certificate", "host", requests={"fp64-18": REQUESTS["fp64-18"]})


def test_checkpoints_move_between_mixed_ranks_and_cpus(staghorn, rough, tmp_path):
    mixed, like = ["--device", "cuda:0,cpu", "--grid", "1,1,1,2"], ["--device", "cpu"]

    def solve(name, how, ranks, *options):
        staghorn("solve", "--gauge", rough, "--mass", 0.05, "--sloppy", "fp16", "--quiet", "--output", tmp_path / f"{name}.solution.h5",
                 "--report", tmp_path / f"{name}.json", "--force", *how, *options, ranks=ranks, env=ENDS, check=True)
        return solution_bytes(tmp_path / f"{name}.solution.h5")

    whole, state = solve("whole", like, 1), tmp_path / "state.h5"
    keep = ["--checkpoint", state, "--checkpoint-every", 0, "--keep-checkpoint"]
    assert solve("mixed", mixed, 2, *keep) == whole
    Path(f"{state}.1").rename(state)  # the state before the last
    assert solve("resumed", like, 1, *keep, "--resume") == whole
    assert json.loads((tmp_path / "resumed.json").read_text())["checkpoint"]["resumed_iterations"] >= 16


def test_mixed_ranks_find_eigenpairs_and_deflate_with_them(staghorn, check, rough, tmp_path):
    def find(name, *how, ranks=1):
        path = tmp_path / f"{name}.h5"
        staghorn("eigen", "--gauge", rough, "--pairs", 8, "--links", 12, "--quiet", "--output", path, *how, ranks=ranks,
                 env=ENDS | {"SOURCE_DATE_EPOCH": "0"}, check=True)
        return path

    like, mixed = find("like", "--device", "cpu"), find("mixed", "--device", "cuda:0,cpu", "--grid", "1,1,1,2", ranks=2)
    assert mixed.read_bytes() == like.read_bytes()
    some = {name: [*REQUESTS[name], "--eigenvectors", mixed] for name in ("fp64-12", "fp64-8", "fp64-12-fp32-12")}
    some["block"] = [*REQUESTS["block"], "--links", 12, "--eigenvectors", mixed]
    found = check("1,1,1,2", requests=some)
    assert all(report["deflation"]["pairs"] == 8 for report in found.reports)


@pytest.mark.parametrize("options, words", [
    (["--transport", "p2p"], ["transport", "staged", "some ranks compute on CPUs beside GPUs", "'p2p'"]),
    (["--transport", "mpi"], ["transport", "some ranks compute on CPUs beside GPUs"]),
    (["--blas", "cublas"], ["--blas cublas", "device cpu"]),
    (["--certificate", "device"], ["--certificate device", "device cpu"]),
    (["--device", "cpu,cuda:9"], ["rank 1 on host ", "device", "'cpu,cuda:9'"])], ids=["p2p", "mpi", "cublas", "certificate", "missing"])
def test_what_mixed_ranks_cannot_do_is_refused(staghorn, rough, expect_error, tmp_path, options, words):
    device = [] if "--device" in options else ["--device", "cuda:0,cpu"]
    expect_error(staghorn("solve", "--gauge", rough, "--mass", 0.3, "--output", tmp_path / "x.h5", *device, *options, ranks=2, env=ENDS), 1, *words)
