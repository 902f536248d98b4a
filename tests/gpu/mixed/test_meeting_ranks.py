"""Ranks on a GPU and ranks on CPUs take part in the same messages and sums, in the same order.

This needs no GPU, but a build with CUDA: the GPU here is one whose kernels do nothing (idle_cuda_runtime.cpp). A rank that
waits for another in vain is ended by the watchdog, which says where. What such a GPU computes is wrong, and the certificate
must say so.
"""

from __future__ import annotations

import json
import math

import pytest
from program_under_test import built_program

pytestmark = [pytest.mark.mpi,
              pytest.mark.skipif(not built_program("idle_gpu_solves").is_file(), reason="a build without CUDA has no idle GPU")]

MANY = ["--source", "gaussian:5", "--noise-vectors", 3]
REQUESTS = {
    "fp64": ["--sloppy", "none", "--links", 18, "--boundary", "0.3,antiperiodic,periodic,0.5"],
    "fp32-8-odd": ["--precision", "fp32", "--links", 8, "--system", "odd", *MANY],
    "fp64-fp32": ["--links", 12, "--sloppy", "fp32", "--sloppy-links", 12],
    "fp64-fp16": ["--sloppy", "fp16", *MANY],
    "no overlap": ["--sloppy", "none", "--overlap", "off", "--loopback", "x"],
    "mapped": ["--transport", "mapped"],
    "hisq": ["--action", "hisq", "--sloppy", "fp16", "--phases", "milc"],
    "masses": ["--sloppy", "none", "--masses", "0.1,0.3,0.9"],
    "masses-fp32": ["--masses", "0.1,0.3,0.9", "--sloppy", "fp32", *MANY],
    "block": ["--sloppy", "none", "--solver", "block", *MANY],
    "block-fp32": ["--solver", "block", "--sloppy", "fp32", *MANY],
    "batch": ["--sloppy", "none", "--batch", 2, *MANY],
}
DEVICES = {"1,1,1,2": "cuda:0,cpu", "1,1,2,2": "cpu,cuda:0,cuda:0,cpu"}
FAILED = 3  # exit status: not converged


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gauge") / "hot.h5"
    staghorn("generate", "--lattice", 8, 4, 8, 12, "--beta", 6, "--sweeps", 2, "--seed", 3, "--device", "cpu", "--output", path, check=True)
    return path


def solve(run_built, lines, requests, ranks, env=None):
    requests.write_text("".join("\t".join(map(str, words)) + "\n" for words in lines))
    return run_built("idle_gpu_solves", requests, ranks=ranks, timeout=180, env={"STAGHORN_WATCHDOG": "20"} | (env or {}))


@pytest.mark.parametrize("grid", DEVICES)
def test_ranks_of_both_kinds_meet(run_built, gauge, tmp_path, grid):
    lines = []
    for i, request in enumerate(REQUESTS.values()):
        mass = [] if "--masses" in request else ["--mass", 0.5]
        words = ["--gauge", gauge, "--output", tmp_path / f"{i}.h5", "--report", tmp_path / f"{i}.json", "--quiet", "--grid", grid,
                 "--device", DEVICES[grid], "--max-iterations", 40, *mass, *request]
        lines.append(words)
    done = solve(run_built, lines, tmp_path / "requests", math.prod(map(int, grid.split(","))))
    assert done.returncode == 0, done.stdout + done.stderr
    for i, name in enumerate(REQUESTS):
        report = json.loads((tmp_path / f"{i}.json").read_text())
        assert len(report["devices"]) == report["ranks"] and report["unlike_ranks"], name
        assert report["transport"].split("+")[-1] in ("staged", "mapped", "cuda-aware", "mpi"), name
        assert report["outcome"] != "certified" and report["certificate"] == "host", name
        tried = {trial["name"]: trial for trial in report["transports"]["tried"]}
        if DEVICES[grid].count("cuda") > 1 and name != "mapped":  # of an idle GPU that two ranks share
            assert tried["p2p+staged"]["left_out"] == "several ranks share a GPU", name
            assert "nccl+staged" in tried and "nccl+mapped" not in tried, name
        else:
            assert not any("+" in way for way in tried), name
    assert done.stdout.count(f"exit status {FAILED}") == len(REQUESTS), done.stdout


@pytest.mark.parametrize("grid", DEVICES)
def test_ranks_of_both_kinds_meet_in_a_search_for_eigenpairs(run_built, gauge, tmp_path, grid):
    line = ["eigen", "--gauge", gauge, "--pairs", 4, "--max-calls", 300, "--output", tmp_path / "pairs.h5",
            "--report", tmp_path / "r.json", "--quiet", "--grid", grid, "--device", DEVICES[grid]]
    done = solve(run_built, [line], tmp_path / "requests", math.prod(map(int, grid.split(","))))
    assert done.returncode == 0 and f"exit status {FAILED}" in done.stdout, done.stdout + done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["outcome"] == "out_of_calls" and report["calls"] > 200
    assert report["unlike_ranks"] and len(report["devices"]) == report["ranks"]


def test_ranks_of_both_kinds_meet_in_the_certificate_of_eigenpairs(staghorn, run_built, gauge, tmp_path):
    """The vectors of that GPU stay empty, and the certificate on the host says so on every rank."""
    pairs = tmp_path / "pairs.h5"
    staghorn("eigen", "--gauge", gauge, "--pairs", 2, "--device", "cpu", "--quiet", "--output", pairs, check=True)
    line = ["--gauge", gauge, "--mass", 0.5, "--output", tmp_path / "x.h5", "--device", "cuda:0,cpu", "--eigenvectors", pairs]
    done = solve(run_built, [line], tmp_path / "requests", 2)
    assert done.returncode == 1 and not (tmp_path / "x.h5").exists(), done.stdout + done.stderr
    assert "|K v - lambda v| of eigenpair 0 with these links" in done.stderr


@pytest.mark.parametrize("options, words", [
    (["--certificate", "device"], ["`certificate` device", "found device cpu"]),
    (["--blas", "cublas"], ["`blas` cublas", "found device cpu"]),
    (["--transport", "p2p"], ["staged", "some ranks compute on CPUs beside GPUs", "'p2p'"])],
    ids=["certificate", "cublas", "transport"])
def test_what_such_ranks_cannot_do_is_refused(run_built, gauge, tmp_path, options, words):
    line = ["--gauge", gauge, "--mass", 0.5, "--output", tmp_path / "x.h5", "--device", "cuda:0,cpu", *options]
    done = solve(run_built, [line], tmp_path / "requests", 2)
    assert done.returncode == 1 and not (tmp_path / "x.h5").exists(), done.stdout + done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("used, refused", [(0, False), (2**32 - 10**6, True)], ids=["all free", "used by others"])
def test_what_others_use_of_a_gpu_is_not_there(run_built, gauge, tmp_path, used, refused):
    """Known when links have been read, for the GPU is made ready meanwhile; before, only what fits in no case is refused."""
    line = ["--gauge", gauge, "--mass", 0.5, "--max-iterations", 40, "--output", tmp_path / "x.h5", "--device", "cuda:0,cpu", "--quiet"]
    done = solve(run_built, [line], tmp_path / "requests", 2, {"IDLE_GPU_USED_BY_OTHERS": str(used)})
    assert ("of GPU memory for each rank" in done.stderr and "and 1.0 MB are there" in done.stderr) == refused, done.stderr
    assert (done.returncode == 1) == refused and (tmp_path / "x.h5").exists() != refused, done.stdout + done.stderr
