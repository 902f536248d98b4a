"""Single C++ functions, and the kernels against the plain operator: each check of the program unit_checks is one test.

The program itself lists its checks. The hop checks run every precision, link form, 1 to 5 right-hand sides and all subsets of
cut directions in one go; on the largest lattices each subset has one number of right-hand sides."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from program_under_test import built_program

CANNOT_RUN = 77


def listed_checks() -> list[tuple[str, str]]:
    """(file of checks, name) of every check; none where the program is not built."""
    program = built_program("unit_checks")
    if not program.is_file():
        return []
    listed = subprocess.run([program], capture_output=True, text=True, check=True)
    return [tuple(line.split()) for line in listed.stdout.splitlines()]


LISTED = listed_checks()


@pytest.mark.parametrize("check", [name for _, name in LISTED])
def test_unit_check(run_built, check):
    result = run_built("unit_checks", check)
    if result.returncode == CANNOT_RUN:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr


# Checks whose lattice is cut where there are several ranks.
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("check", [name for file, name in LISTED if file == "given_phase_checks"])
def test_unit_check_on_several_ranks(run_built, check, ranks):
    result = run_built("unit_checks", check, ranks=ranks)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_file_of_checks_is_listed_and_no_name_stands_twice(run_built):
    run_built("unit_checks")  # fails where the program is not built
    assert {file for file, _ in LISTED} == {path.stem for path in Path(__file__).parent.glob("**/*_checks.cpp")} - {"unit_checks"}
    assert len({name for _, name in LISTED}) == len(LISTED)


def test_a_check_that_is_none_is_refused(run_built):
    assert run_built("unit_checks", "no_such_check").returncode == 2
