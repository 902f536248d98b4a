"""Flexible CG on vectors of other numbers of components than three: 2 n on each aggregate of a coarse grid."""

from __future__ import annotations

from math import prod

import pytest

LATTICE, N = (8, 4, 4, 16), 3  # 8 aggregates of 4^4 sites


@pytest.fixture
def solve(run_built):
    """solve(grid, threads) -> the lines that were printed."""

    def run(grid, threads):
        result = run_built("coarse_solve", *LATTICE, *grid, N, ranks=prod(grid), threads=threads)
        assert result.returncode == 0, result.stdout + result.stderr
        return [line.split() for line in result.stdout.splitlines()]

    return run


def test_a_coarse_system_is_solved_with_any_preconditioner_that_changes(solve):
    found = solve((1, 1, 1, 1), 1)
    assert [line[0] for line in found] == ["0", "0", "3", "3"]  # two right-hand sides each
    assert all(outcome == "converged" and float.fromhex(residual) <= 1.001e-6 for _, outcome, _, residual, _ in found)
    plain, preconditioned = (int(found[i][2]) for i in (0, 2))
    assert 10 < plain < 2 * N * prod(LATTICE) // 4**4 and preconditioned < 0.9 * plain


@pytest.mark.mpi
@pytest.mark.parametrize("grid, threads", [((1, 1, 1, 1), 3), ((2, 1, 1, 1), 2), ((1, 1, 1, 4), 1)])
def test_a_coarse_solution_has_the_same_bits_on_any_ranks_and_threads(solve, grid, threads):
    assert solve(grid, threads) == solve((1, 1, 1, 1), 1)
