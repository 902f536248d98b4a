"""What fails on one rank alone ends all of them at once, with that rank's message, and leaves no output behind."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from launcher import launcher_of

pytestmark = pytest.mark.mpi

UNDER_MPI = {**os.environ, **launcher_of().variables, "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("count", [20, 100, 700])  # while setting up, and among the iterations
def test_a_failed_mpi_call_of_one_rank_ends_all(staghorn, small_gauge, tmp_path, rank, count):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.05, "--output", tmp_path / "x.h5", "--report",
                      tmp_path / "x.json", ranks=3, env={"STAGHORN_FAIL_MPI": f"{rank}:{count}"})
    assert result.returncode in (1, *launcher_of().ended), result.stderr
    assert re.findall(r"staghorn: .*", result.stderr) == re.findall(rf"staghorn: error: rank {rank}: MPI_\w+: .*",
                                                                   result.stderr)
    assert len(re.findall("staghorn: error", result.stderr)) == 1, result.stderr
    assert not (tmp_path / "x.h5").exists() and not (tmp_path / "x.json").exists()
    assert rank != 0 or not list(tmp_path.iterdir())  # another may end rank 0 in the midst of writing


def test_an_error_that_only_one_rank_meets_ends_all(program):
    """The environment of rank 1 alone is wrong: it fails where the others wait for it."""
    bench = [str(program), "bench", "hop", "--lattice", "4", "4", "4", "12", "--seconds", "1000", "--stream-mib", "32"]
    command = [*launcher_of().command(1), *bench, ":", "-n", "1", "env", "STAGHORN_STRESS_DELAYS=soon", *bench, ":", "-n", "1", *bench]
    result = subprocess.run(command, capture_output=True, text=True, timeout=180, env=UNDER_MPI)
    assert result.returncode in (1, *launcher_of().ended), result.stderr
    assert re.search("staghorn: error: rank 1: STAGHORN_STRESS_DELAYS", result.stderr), result.stderr


@pytest.mark.parametrize("text", ["1", "1:", "1:0", "one:2", "-1:2", "1:2:3", "1:2 in ", "1:2 of hop"])
def test_a_fault_that_is_none_is_refused(staghorn, text):
    result = staghorn("bench", "hop", "--lattice", 4, 4, 4, 4, env={"STAGHORN_FAIL_MPI": text})
    assert result.returncode == 1 and "STAGHORN_FAIL_MPI: expected RANK:COUNT" in result.stderr
