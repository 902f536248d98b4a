"""Near-null vectors, and solves in their blocks, have the same bits on any ranks, grid and threads; ranks that cut blocks are
refused."""

from __future__ import annotations

import json

import pytest

COUNTED = ["solves", "iterations", "operator_calls", "smallest", "largest", "set_up_products"]


@pytest.fixture
def run(staghorn, rough_gauge, tmp_path):
    """run(solver, *options, ranks=, threads=) -> the file of vectors, that of two solutions, and what was counted."""

    def solve(solver, *options, **how):
        vectors, solution, report = tmp_path / "c.h5", tmp_path / "x.h5", tmp_path / "x.json"
        common = ["--gauge", rough_gauge, *options, "--force"]
        how = {"env": {"SOURCE_DATE_EPOCH": "1700000000"}, "check": True, **how}
        staghorn("coarse", *common, "--vectors", 4, "--iterations", 12, "--block", "2,6,4,2", "--output", vectors, **how)
        staghorn("solve", *common, "--mass", 0.5, "--coarse", vectors, "--solver", solver, "--source", "gaussian:3", "--noise-vectors", 2,
                 "--tolerance", 1e-5, "--output", solution, "--report", report, **how)
        found = json.loads(report.read_text())
        assert found["outcome"] == "certified" and found["coarse"]["solves"] > 2
        return vectors.read_bytes(), solution.read_bytes(), [found["coarse"][name] for name in COUNTED]

    return solve


@pytest.mark.mpi
@pytest.mark.parametrize("solver", ["deflated", "multigrid"])
def test_solutions_in_blocks_have_the_bits_of_one_rank(run, solver):
    expected = run(solver)
    assert run(solver, threads=2) == expected
    assert run(solver, "--grid", "1,1,2,1", ranks=2) == expected
    assert run(solver, "--grid", "2,1,2,1", ranks=4) == expected


@pytest.mark.mpi
def test_improved_quarks_in_blocks_have_the_bits_of_one_rank(run):
    hisq = ["--action", "hisq"]
    assert run("deflated", *hisq, "--grid", "1,1,2,1", ranks=2) == run("deflated", *hisq)


@pytest.mark.mpi
def test_ranks_that_cut_blocks_are_refused(staghorn, rough_gauge, tmp_path):
    found = staghorn("coarse", "--gauge", rough_gauge, "--vectors", 4, "--block", "4,6,8,2", "--grid", "1,1,2,1", "--output",
                     tmp_path / "c.h5", ranks=2)
    assert found.returncode == 1 and "a block lies on one rank" in found.stderr
