"""Environments that are wrong or unkind: a message, or the same answer; never a wrong number taken in silence."""

from __future__ import annotations

import os
import subprocess

import pytest
from solve_files import solution_bytes, solve


@pytest.mark.mpi
@pytest.mark.parametrize("text", ["two", "0", "-1", "1.5", "4294967297", "99999999999999999999"])
def test_a_number_of_ranks_that_is_none_is_refused(staghorn, small_gauge, text):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 1, ranks=2, env={"STAGHORN_RANKS_PER_HOST": text})
    assert result.returncode == 1
    assert f"STAGHORN_RANKS_PER_HOST: expected a number of at least 1, found '{text}'" in result.stderr


@pytest.mark.parametrize("name, text", [("STAGHORN_WATCHDOG", "nan"), ("STAGHORN_WATCHDOG", "-1"), ("STAGHORN_WATCHDOG", "1s"),
                                        ("STAGHORN_HOST_MEMORY", "nan"), ("STAGHORN_HOST_MEMORY", "2GB")])
def test_a_limit_that_is_no_number_is_refused(staghorn, small_gauge, name, text):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 1, env={name: text})
    assert result.returncode in (1, 2) and name in result.stderr and text in result.stderr


def test_a_reader_that_goes_away_does_not_take_the_solution_with_it(staghorn, program, small_gauge, tmp_path):
    """`staghorn solve ... | head -1`: what was solved is written, and the exit status says that the summary was not."""
    request = ["--mass", 0.3, "--source", "z2:5", "--tolerance", 1e-8]
    (tmp_path / "whole").mkdir()
    solve(staghorn, tmp_path / "whole", small_gauge, *request)
    command = [program, "solve", "--gauge", small_gauge, *request, "--output", tmp_path / "x.h5"]
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run([str(word) for word in command], stdout=write, stderr=subprocess.PIPE, text=True, timeout=180)
    finally:
        os.close(write)
    assert result.returncode == 1 and "standard output could not be written" in result.stderr
    assert solution_bytes(tmp_path / "x.h5") == solution_bytes(tmp_path / "whole" / "solve.h5")
