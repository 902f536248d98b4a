"""Solutions on real configurations against MILC's and an independent code's, for every configuration and mass.

In fp64 throughout, whose iterations are known. Mixed precision, the default: test_mixed_precision.py.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from reference_configurations import CONFIGURATIONS, MASSES, components_differ_by
from staghorn.reference import extents_of, keep_parity, milc_sign, norm2

pytestmark = pytest.mark.reference

# What a solve to 1e-11 leaves on the largest component or on a norm of the solution: at most |r| / lambda_min
# = 1e-11 / (4 m^2) = 2.5e-8 in |x|, where |x| itself is then of order 100.
PRECISE = 1e-8


@pytest.fixture(params=CONFIGURATIONS)
def configuration(request) -> str:
    return request.param


@pytest.fixture(params=MASSES, ids=lambda m: f"m{m}")
def mass(request) -> float:
    return request.param


@pytest.fixture
def propagator(solved, configuration, mass):
    return solved(configuration, mass, "--sloppy", "none", "--source", "point:0,0,0,0", "--color", "all")


@pytest.fixture
def even_point(solved, configuration, mass):
    return solved(configuration, mass, "--sloppy", "none", "--source", "point:0,0,0,0", "--color", 0, "--system", "even")


def test_every_solution_is_certified(propagator):
    report, _ = propagator
    assert report["outcome"] == "certified"
    assert [rhs["color"] for rhs in report["rhs"]] == [0, 1, 2]
    assert all(rhs["residual_true"] <= report["tolerance"] for rhs in report["rhs"])


def test_propagator_norms_agree(propagator, expected_for_mass, configuration, mass):
    report, solution = propagator
    expected = np.array(expected_for_mass(configuration, mass)["propagator"]["norm2_even_odd_per_source_color"])
    found = np.array([[rhs["norm2_even"], rhs["norm2_odd"]] for rhs in report["rhs"]])
    assert found == pytest.approx(expected, rel=PRECISE)
    from_file = [[norm2(keep_parity(x, 0)), norm2(keep_parity(x, 1))] for x in solution]
    assert found == pytest.approx(np.array(from_file), rel=1e-14)


def test_pion_correlator_agrees(propagator, expected_for_mass, configuration, mass):
    expected = expected_for_mass(configuration, mass)["propagator"]["pion_correlator_t"]
    assert propagator[0]["pion_correlator"] == pytest.approx(expected, rel=PRECISE)


def test_pion_correlator_is_milcs(propagator, expected, configuration, mass):
    masses = expected(configuration)["cg"]["naive"]["milc"]["masses"]
    milc = next(m for m in masses if m["m_MILC"] == mass)["pion_correlator_t"]
    # MILC re-unitarises the fp32 links that it reads.
    assert propagator[0]["pion_correlator"] == pytest.approx(milc, rel=5e-7)


@pytest.mark.parametrize("links", [12, 8])
def test_pion_correlator_of_reunitarized_links_is_milcs(solved, expected, configuration, mass, links):
    masses = expected(configuration)["cg"]["naive"]["milc"]["masses"]
    milc = next(m for m in masses if m["m_MILC"] == mass)["pion_correlator_t"]
    report, _ = solved(configuration, mass, "--source", "point:0,0,0,0", "--color", "all", "--links", links)
    assert report["gauge"]["reunitarized"]
    assert report["pion_correlator"] == pytest.approx(milc, rel=PRECISE)


def test_propagator_components_agree(propagator, expected_for_mass, configuration, mass):
    expected = expected_for_mass(configuration, mass)["propagator"]
    solution = propagator[1][0]
    assert components_differ_by(solution, expected["color0_components_even"]) < PRECISE
    in_milc_phases = milc_sign(extents_of(solution)) * solution
    assert components_differ_by(in_milc_phases, expected["color0_components_odd_milc_phases"]) < PRECISE


def test_parity_solution_agrees(even_point, expected_for_mass, configuration, mass):
    report, solution = even_point
    expected = expected_for_mass(configuration, mass)["even_point"]
    assert report["rhs"][0]["norm2"] == pytest.approx(expected["norm2"], rel=PRECISE)
    assert report["rhs"][0]["norm2_odd"] == 0
    assert components_differ_by(solution[0], expected["components_standard_phases"]) < PRECISE
    in_milc_phases = milc_sign(extents_of(solution[0])) * solution[0]
    assert components_differ_by(in_milc_phases, expected["components_milc_phases"]) < PRECISE


@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_parity_solution_of_formula_source_agrees(solved, formula_source, expected_for_mass, configuration, mass, phases):
    expected = expected_for_mass(configuration, mass)[
        {"cps": "even_formula_standard_phases", "milc": "even_formula"}[phases]]
    report, solution = solved(configuration, mass, "--sloppy", "none", "--system", "even", "--phases", phases, "--source",
                              f"file:{formula_source(configuration)}")
    assert report["rhs"][0]["norm2"] == pytest.approx(expected["norm2"], rel=PRECISE)
    assert components_differ_by(solution[0], expected["components"]) < PRECISE
    compare_iterations(report["rhs"][0]["history"], expected["iterations"])


def test_iteration_counts_agree(even_point, propagator, expected_for_mass, configuration, mass):
    expected = expected_for_mass(configuration, mass)["even_point"]["iterations"]
    compare_iterations(even_point[0]["rhs"][0]["history"], expected)
    # A point source on an even site makes the even-odd solve of the full system the same iteration.
    compare_iterations(propagator[0]["rhs"][0]["history"], expected)


@pytest.mark.parametrize("tolerance", ["1e-6", "1e-8", "1e-10"])
def test_solve_stops_where_the_history_says(staghorn, reference_data, tmp_path, expected_for_mass, tolerance):
    name, mass = "lat.sample.l4448", 0.05
    report = tmp_path / "report.json"
    staghorn("solve", "--gauge", reference_data / name, "--mass", mass, "--system", "even", "--source", "point:0,0,0,0",
             "--color", 0, "--sloppy", "none", "--tolerance", tolerance, "--report", report, "--output", tmp_path / "x.h5", check=True)
    rhs = json.loads(report.read_text())["rhs"][0]
    expected = expected_for_mass(name, mass)["even_point"]["iterations"][tolerance]
    assert abs(rhs["iterations"] - expected) <= math.ceil(0.01 * expected)
    assert len(rhs["history"]) == rhs["iterations"] + 1


def compare_iterations(history: list[float], expected: dict[str, int]) -> None:
    """Iterations to each tolerance, read off the history, within 1 %."""
    for tolerance, iterations in expected.items():
        found = int(np.argmax(np.array(history) <= float(tolerance)))
        assert abs(found - iterations) <= math.ceil(0.01 * iterations), (tolerance, found, iterations)
