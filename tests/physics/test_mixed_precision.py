"""Mixed precision: how often it updates, and what that costs. Answers on real configurations: reference/test_mixed_precision.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from solve_files import assert_iterated_in, solve

CONFIGS = Path(__file__).parents[2] / "configs"
IN_FP64 = ("--sloppy", "none")


@pytest.fixture
def rhs_of(staghorn, tmp_path):
    """rhs_of(gauge, *options) -> what the report says of one even right-hand side, solved to 1e-10."""

    def run(gauge, *options):
        report, _ = solve(staghorn, tmp_path, gauge, "--system", "even", "--tolerance", 1e-10, "--max-iterations", 20000, *options)
        (rhs,) = report["rhs"]
        assert rhs["outcome"] == "certified" and rhs["residual_true"] <= 1e-10
        return rhs

    return run


@pytest.mark.parametrize("sloppy", ["fp32", "fp16"])
@pytest.mark.parametrize("links", [18, 12, 8])
def test_residuals_carry_the_rounding_of_the_sloppy_precision(rhs_of, small_gauge, sloppy, links):
    system = ("--mass", 0.2, "--source", "point:0,0,0,0", "--color", 0)
    double = rhs_of(small_gauge, *system, *IN_FP64)
    assert_iterated_in(sloppy, rhs_of(small_gauge, *system, "--sloppy", sloppy, "--sloppy-links", links), double)


def test_few_updates_and_no_more_iterations_on_large_lattices(staghorn, rhs_of, tmp_path):
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 16, 16, 16, 32, "--start", "hot", "--sweeps", 0, "--seed", 3, "--output", gauge, check=True)
    system = ("--mass", 0.3, "--source", "point:0,0,0,0", "--color", 0)
    double = rhs_of(gauge, *system, *IN_FP64)
    # The residual falls by 2000, 50 and 25 between updates: 10 orders of magnitude take at least 3, 5 and 7 of them.
    for sloppy, links, least, most in (("fp32", 12, 2, 4), ("fp16", 12, 4, 6), ("fp16", 8, 4, 8)):
        mixed = rhs_of(gauge, *system, "--sloppy", sloppy, "--sloppy-links", links)
        assert_iterated_in(sloppy, mixed, double)
        assert mixed["iterations"] <= 1.02 * double["iterations"]
        assert least <= len(mixed["updates"]) <= most


def test_no_more_iterations_on_ill_conditioned_systems(staghorn, rhs_of, tmp_path):
    """The residual falls fast at first and slowly later: updates must not be as far apart as that first rate suggests."""
    gauge = tmp_path / "gauge.h5"
    staghorn("generate", "--lattice", 12, 12, 12, 16, "--beta", 6.0, "--sweeps", 10, "--seed", 5, "--output", gauge, check=True)
    system = ("--mass", 0.005, "--source", "point:1,0,2,3", "--color", 1)
    double = rhs_of(gauge, *system, *IN_FP64)
    for sloppy, more in (("fp32", 1.05), ("fp16", 1.5)):
        mixed = rhs_of(gauge, *system, "--sloppy", sloppy)
        assert_iterated_in(sloppy, mixed, double)
        assert mixed["iterations"] <= more * double["iterations"]


def test_a_residual_that_stands_for_long_is_waited_for(staghorn, tmp_path):
    """At light masses |r| stands for far more than the 1000 iterations of a stagnation window: fp32 is not given up then."""
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 6, 6, 6, 8, "--start", "hot", "--beta", 0.5, "--sweeps", 5, "--seed", 3, "--output", gauge, check=True)
    report, _ = solve(staghorn, tmp_path, gauge, "--system", "even", "--mass", 0.0005, "--source", "point:0,0,0,0", "--color", 0, "--sloppy", "fp32")
    (rhs,) = report["rhs"]
    smallest, since, longest = np.inf, 0, 0
    for norm in np.sqrt(rhs["history"]):
        since = 0 if norm <= 0.9 * smallest else since + 1
        smallest, longest = norm if since == 0 else smallest, max(longest, since)
    assert longest > 1000
    assert rhs["outcome"] == "certified" and report["precise_loop"] is None and len(rhs["updates"]) > 100


@pytest.mark.parametrize("sloppy, most, mismatch", [("fp32", 1000, 1e-3), ("fp16", 1300, 0.05)])
def test_small_isolated_eigenvalues_are_not_forgotten(rhs_of, sloppy, most, mismatch):
    """HISQ on a small lattice: |r| stands for hundreds of iterations before it falls. Errors must not gather meanwhile."""
    system = ("--action", "hisq", "--mass", 0.005, "--source", "gaussian:1")
    double = rhs_of(CONFIGS / "quenched_8x8x8x16_b5.70.nersc", *system, *IN_FP64)
    mixed = rhs_of(CONFIGS / "quenched_8x8x8x16_b5.70.nersc", *system, "--sloppy", sloppy)
    assert_iterated_in(sloppy, mixed, double)
    assert 800 <= double["iterations"] <= 900 and mixed["iterations"] <= most
    assert len(mixed["mismatches"]) == len(mixed["updates"]) >= 10
    assert 0 < sorted(mixed["mismatches"])[len(mixed["updates"]) // 2] <= mismatch


def test_massless_systems_end(rhs_of):
    """The rule for the distance of updates does not divide by the mass."""
    system = ("--mass", 0, "--source", "point:0,0,0,0", "--color", 0)
    double = rhs_of(CONFIGS / "quenched_8x8x8x16_b5.70.nersc", *system, *IN_FP64)
    for sloppy in "fp32", "fp16":
        mixed = rhs_of(CONFIGS / "quenched_8x8x8x16_b5.70.nersc", *system, "--sloppy", sloppy)
        assert_iterated_in(sloppy, mixed, double)
        assert mixed["iterations"] <= 1.5 * double["iterations"]
