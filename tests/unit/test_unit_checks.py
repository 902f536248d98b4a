"""Known answers and accuracy of single C++ functions: each check of the program unit_checks is one test."""

import os
import subprocess

import pytest

CHECKS = [
    "philox_gives_the_published_words",
    "logarithm_is_within_one_unit_in_the_last_place",
    "random_numbers_have_their_moments",
    "exact_sum_does_not_depend_on_the_order",
    "exact_sum_reports_what_is_not_a_number",
    "projected_matrices_are_in_su3",
    "heatbath_draws_have_the_exact_mean",
    "overrelaxation_keeps_the_action",
]


def run(program, *args):
    unit_checks = program.parent / "unit_checks"
    if not unit_checks.is_file():
        pytest.skip(f"{unit_checks} is not built")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.run([unit_checks, *args], capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize("check", CHECKS)
def test_unit_check(program, check):
    result = run(program, check)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_unit_check_is_run(program):
    assert sorted(run(program).stdout.split()) == sorted(CHECKS)
