"""Ranks whose kernels lay out vectors differently give the bits of ranks that are alike.

Here these are CPUs with vector registers of two widths. A CPU beside a GPU takes the same path (gpu/mixed/).
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import pytest
from launcher import launcher_of
from solve_files import solution_bytes

pytestmark = pytest.mark.mpi

WIDE = Path("/proc/cpuinfo").read_text().count("avx512vl") > 0
PHASES = "0.3,antiperiodic,periodic,0.5"
MANY = ["--source", "gaussian:5", "--noise-vectors", 3]
HISQ = ["--action", "hisq"]
REQUESTS = {
    "fp64-18": ["--sloppy", "none", "--links", 18, "--boundary", PHASES],
    "fp32-8-odd": ["--precision", "fp32", "--links", 8, "--system", "odd", *MANY],
    "fp64-12-fp32-12": ["--links", 12, "--sloppy", "fp32", "--sloppy-links", 12],
    "fp64-18-fp16-12": ["--sloppy", "fp16", "--sloppy-links", 12, *MANY],
    "hisq-fp16": [*HISQ, "--sloppy", "fp16", *MANY],
    "block": ["--sloppy", "none", "--solver", "block", *MANY],
    "masses": ["--masses", "0.1,0.3,0.9"],
    "two at a time": ["--sloppy", "none", "--batch", 2, *MANY],
    "device certificate is the host's": ["--certificate", "host", "--phases", "milc"],
}
GRIDS = ["2,1,2,1", "1,1,1,3"]  # the latter has slabs of 6, 6 and 4 sites


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gauge") / "rough.h5"
    staghorn("generate", "--lattice", 8, 4, 12, 16, "--beta", 6, "--sweeps", 3, "--seed", 3, "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def every_other_rank(tmp_path_factory):
    """every_other_rank(kernels) -> a script that runs its arguments, on odd ranks with these kernels."""
    folder = tmp_path_factory.mktemp("under")

    def make(kernels):
        script = folder / kernels
        script.write_text(f"#!/bin/sh\n[ $(({launcher_of().rank} % 2)) = 1 ] && export STAGHORN_CPU_KERNELS={kernels}\nexec \"$@\"\n")
        script.chmod(0o755)
        return str(script)

    return make


@pytest.fixture(scope="module")
def answers(run_built, gauge, every_other_rank, tmp_path_factory):
    """answers(grid, kernels=None, requests=REQUESTS) -> {request: (hash of solution and histories, report)}; `kernels` of odd ranks."""

    def run(grid, kernels=None, requests=REQUESTS, more=()):
        folder = tmp_path_factory.mktemp("solves")
        lines = []
        for i, request in enumerate(requests.values()):
            words = [*([] if "--gauge" in request else ["--gauge", gauge]), "--mass", 0.5, "--grid", grid, "--output", folder / f"{i}.h5", "--report", folder / f"{i}.json",
                     "--quiet", *request, *more]
            if "--masses" in words:
                del words[words.index("--mass"):words.index("--mass") + 2]
            lines.append("\t".join(map(str, words)) + "\n")
        (folder / "requests").write_text("".join(lines))
        ranks = math.prod(map(int, grid.split(",")))
        done = run_built("many_solves", folder / "requests", ranks=ranks, under=(every_other_rank(kernels),) if kernels else ())
        assert done.returncode == 0 and done.stdout.count("exit status 0") == len(requests), done.stdout + done.stderr
        found = {}
        for i, name in enumerate(requests):
            report = json.loads((folder / f"{i}.json").read_text())
            histories = [(rhs["history"], rhs["iterations"], rhs.get("updates")) for rhs in report["rhs"]]
            found[name] = hashlib.sha256(solution_bytes(folder / f"{i}.h5") + repr(histories).encode()).hexdigest(), report
        return found

    return run


@pytest.fixture(scope="module")
def alike(answers):
    return answers("1,1,1,1")


@pytest.mark.skipif(not WIDE, reason="needs AVX-512: other registers have one width")
@pytest.mark.parametrize("grid", GRIDS)
def test_ranks_of_two_widths_have_the_bits_of_one(answers, alike, grid):
    found = answers(grid, "baseline")
    for name, (answer, report) in found.items():
        assert report["unlike_ranks"] and not alike[name][1]["unlike_ranks"]
        assert report["widths"][3] == ([6, 6, 4] if grid == GRIDS[1] else [16])
        assert report["memory_bytes"]["halo"] <= report["predicted_memory_bytes"]["halo"], name
        assert answer == alike[name][0], name


def test_ranks_that_are_alike_send_blocks(answers, alike):
    found = answers("1,1,1,2", requests={"fp64-18": REQUESTS["fp64-18"]})
    assert not found["fp64-18"][1]["unlike_ranks"] and found["fp64-18"][0] == alike["fp64-18"][0]


@pytest.mark.skipif(not WIDE, reason="needs AVX-512: other registers have one width")
def test_eigenpairs_of_unlike_ranks_deflate_anywhere(staghorn, answers, every_other_rank, tmp_path):
    small = tmp_path / "small.h5"
    staghorn("generate", "--lattice", 4, 4, 8, 8, "--beta", 6, "--sweeps", 3, "--seed", 3, "--output", small, check=True)

    def find(path, under=()):
        staghorn("eigen", "--gauge", small, "--pairs", 4, "--tolerance", 1e-8, "--grid", "1,1,1,2", "--output", path, "--quiet",
                 ranks=2, under=under, check=True, env={"SOURCE_DATE_EPOCH": "1"})
        return path

    pairs, same = find(tmp_path / "pairs.h5", (every_other_rank("baseline"),)), find(tmp_path / "same.h5")
    assert pairs.read_bytes() == same.read_bytes()
    request = {"deflated": ["--sloppy", "none", "--gauge", small, "--eigenvectors", pairs],
               "deflated-fp16": ["--gauge", small, "--eigenvectors", pairs, "--sloppy", "fp16"]}
    unlike, like = answers("1,1,1,2", "baseline", request), answers("1,1,2,1", None, request)
    assert {name: answer for name, (answer, _) in unlike.items()} == {name: answer for name, (answer, _) in like.items()}
    assert all(report["deflation"]["pairs"] == 4 and report["unlike_ranks"] for _, report in unlike.values())


@pytest.mark.parametrize("devices, words", [("cuda:0,cpu", ["rank 0 on host ", "device", "auto or cpu"]),
                                            ("cpu,gpu", ["device", "a list of these with commas", "'cpu,gpu'"]),
                                            ("cpu,", ["device", "'cpu,'"])], ids=["no GPU", "no device", "empty"])
def test_list_of_devices_that_cannot_be_is_refused(staghorn, gauge, expect_error, tmp_path, devices, words):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.3, "--device", devices, "--output", tmp_path / "x.h5", ranks=2, env={"CUDA_VISIBLE_DEVICES": ""})
    expect_error(result, 1, *words)


def test_list_of_cpus_is_a_list(answers, alike):
    found = answers("1,1,1,2", requests={"fp64-18": REQUESTS["fp64-18"]}, more=["--device", "cpu,cpu"])
    assert found["fp64-18"][1]["devices"] == ["cpu", "cpu"] and found["fp64-18"][0] == alike["fp64-18"][0]
