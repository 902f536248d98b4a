"""Under mpirun one rank speaks for all: one message, the same exit status, one certificate."""

from __future__ import annotations

import pytest
from launcher import launcher_of

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("arguments, status, words", [
    (["solve", "--gauge", "/nonexistent", "--mass", "0.1"], 1, ["/nonexistent"]),
    (["solve", "--gauge", "f", "--mas", "0.1"], 2, ["unknown option 'mas'"]),
    (["frobnicate"], 2, ["unknown command"]),
])
def test_error_is_printed_once(staghorn, expect_error, arguments, status, words):
    expect_error(staghorn(*arguments, ranks=3), status, *words)


def test_ranks_that_cannot_cut_the_lattice(solve, expect_error):
    expect_error(solve(ranks=7), 1, "4x6x8x10", "7 ranks")
    expect_error(solve("--grid", "3,1,1,1", ranks=3, name="a"), 1, "4x6x8x10", "grid 3x1x1x1")


def test_nan_on_one_rank_ends_all(solve, expect_error, tmp_path):
    import numpy as np
    from solve_files import write_source

    vector = np.ones((10, 8, 6, 4, 3), complex)
    vector[9, 7, 5, 3, 2] = np.nan  # on the last rank
    source = write_source(tmp_path / "b.h5", vector)
    expect_error(solve("--source", f"file:{source}", ranks=2), 1, "source 0", "3,5,7,9")


def test_certificate_is_printed_once(solve):
    result = solve(ranks=4)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("CERTIFICATE") == 1
    assert "4 ranks" in result.stdout.splitlines()[0]


def test_not_converged_is_the_status_of_the_launcher(solve):
    result = solve("--max-iterations", 3, ranks=2, mass=0.05)
    assert result.returncode == 3
    assert result.report["outcome"] == "out_of_iterations" and result.output_path.exists()


def test_ranks_share_the_cores_where_threads_are_not_set(solve):
    """OMP_NUM_THREADS absent: the ranks together run no more threads than there are cores (but one each at least)."""
    import os

    result = solve(ranks=2, env={"OMP_NUM_THREADS": ""})
    assert result.report["threads"] == max(1, len(os.sched_getaffinity(0)) // 2)


def test_whole_files_are_the_same_on_any_number_of_ranks(solve):
    one, four = (solve(ranks=ranks, name=f"ranks{ranks}", env={"SOURCE_DATE_EPOCH": "0"}) for ranks in (1, 4))
    assert one.output_path.read_bytes() == four.output_path.read_bytes()


def test_bindings_that_leave_cores_idle_are_told_of(program, small_gauge):
    """Launchers bind a rank to one core, some of them by default."""
    import os
    import subprocess

    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        pytest.skip("one core")
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment |= launcher_of().variables
    for binding, told in (("core", True), ("none", False)):
        result = subprocess.run([*launcher_of().command(1, binding=binding), program, "solve", "--gauge", small_gauge, "--mass", "0.5", "--color", "0"],
                                capture_output=True, text=True, env=environment, timeout=180)
        assert result.returncode == 0, result.stderr
        assert (f"note: 1 rank is bound to 1 of its {cores} cores: start with {launcher_of().advice} none" in result.stdout) == told
        assert f"1 rank x {1 if told else cores} thread" in result.stdout
