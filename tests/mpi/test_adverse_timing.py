"""Random delays wherever ranks meet: nothing hangs, every byte arrives, and answers keep their bits."""

from __future__ import annotations

import pytest
from solve_files import solution_bytes, solve

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("grid", ["1,1,1,4", "2,1,1,2", "1,2,2,1"])
def test_a_thousand_delayed_exchanges(exchange_stress, grid, seed):
    assert "1000 exchanges, 0 faults" in exchange_stress("mpi", "host", grid, seed)


@pytest.mark.parametrize("grid", ["1,1,4,1", "2,1,2,1"])
def test_delays_change_no_bit(staghorn, small_gauge, tmp_path, grid):
    request = ["--mass", 0.3, "--source", "z2:5", "--tolerance", 1e-8]
    (tmp_path / "one").mkdir()
    solve(staghorn, tmp_path / "one", small_gauge, *request)
    solve(staghorn, tmp_path, small_gauge, *request, "--grid", grid, ranks=4, env={"STAGHORN_STRESS_DELAYS": "300,7"})
    assert solution_bytes(tmp_path / "solve.h5") == solution_bytes(tmp_path / "one" / "solve.h5")


@pytest.mark.parametrize("text", ["soon", "100,", "-5", "9223372036854775807"])
def test_delays_that_are_none_are_refused(staghorn, small_gauge, text):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.3, ranks=2, env={"STAGHORN_STRESS_DELAYS": text})
    assert result.returncode == 1 and "STAGHORN_STRESS_DELAYS" in result.stderr
