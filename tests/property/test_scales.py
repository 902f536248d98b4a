"""Sources, links, masses and guesses of any size: what is certified is true, and a power of two changes no bit."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")
import staghorn as package  # noqa: E402

EXTENTS = (4, 2, 6, 6)
MASS = 0.25
POWERS = [-1000, -900, -490, -401, -250, 250, 401, 490, 900, 1000]


def times(power, field):
    """`field` times 2^power, rounded once where a double has fewer digits."""
    return np.ldexp(np.ascontiguousarray(field).view(float), power).view(complex)


def exponent(field):
    """The power of two of its largest number."""
    return int(np.frexp(np.max(np.abs(field.view(field.real.dtype))))[1])


def residual(operator, mass, system, x, b):
    """|b - M x| / |b| whatever the size: both are brought near 1 first, which changes no digit."""
    near = -exponent(b)
    x, b = (times(near - near // 2, times(near // 2, field)) for field in (x, b))
    r = b - (operator.m(mass, x) if system == "full" else operator.a(mass, x))
    if system != "full":
        r, b = (reference.keep_parity(field, ["even", "odd"].index(system)) for field in (r, b))
    return np.linalg.norm(r) / np.linalg.norm(b)


def source(system, seed=1):
    b = reference.random_vector(EXTENTS, seed)
    return b if system == "full" else reference.keep_parity(b, ["even", "odd"].index(system))


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=2)


@pytest.fixture(scope="module")
def sessions(links):
    numbers = {"fp64": {"sloppy": "none"}, "mixed": {"sloppy": "fp32"}, "fp16": {"sloppy": "fp16"}, "block": {"solver": "block"}}
    return {name: staghorn.Session(links, **options) for name, options in numbers.items()}


@pytest.mark.parametrize("system", ["full", "even", "odd"])
@pytest.mark.parametrize("numbers", ["fp64", "mixed", "fp16", "block"])
def test_a_power_of_two_changes_no_bit(sessions, numbers, system):
    b, session = source(system), sessions[numbers]
    x, report = session.solve(MASS, b, system=system)
    for power in POWERS:
        scaled, scaled_report = session.solve(MASS, times(power, b), system=system)
        assert np.array_equal(scaled, times(power, x)), power
        for entry in ("outcome", "iterations", "residual_true", "history"):
            assert scaled_report["rhs"][0][entry] == report["rhs"][0][entry], (power, entry)


@pytest.mark.parametrize("power", POWERS)
def test_sources_of_all_sizes_stand_in_one_batch(sessions, power):
    b = source("full")
    x, _ = sessions["fp64"].solve(MASS, b)
    found, report = sessions["fp64"].solve(MASS, np.array([b, times(power, b), times(-power, b)]))
    assert report["outcome"] == "certified"
    for of_one, scale in zip(found, (0, power, -power)):
        assert np.array_equal(of_one, times(scale, x))


@pytest.mark.parametrize("power", [-1000, -401, 401, 1000])
@pytest.mark.parametrize("system", ["full", "even"])
def test_every_mass_of_a_small_source_is_certified(sessions, links, power, system):
    masses, b = [0.1, 0.3, 1.0], source(system)
    x, _ = sessions["fp64"].solve(None, b, masses=masses, system=system)
    found, report = sessions["fp64"].solve(None, times(power, b), masses=masses, system=system)
    assert report["outcome"] == "certified"
    for mass, expected, of_mass in zip(masses, x, found):
        assert np.array_equal(of_mass, times(power, expected))
        assert residual(StaggeredOperator(links), mass, system, of_mass, times(power, b)) < 1.1e-10


@pytest.mark.parametrize("power", POWERS)
def test_a_solve_that_is_cut_short_is_never_certified(sessions, power):
    _, report = sessions["fp64"].solve(MASS, times(power, source("full")), max_iterations=5)
    assert report["outcome"] == "out_of_iterations"
    assert report["rhs"][0]["residual_true"] > 1e-3


@pytest.mark.parametrize("power", [-1000, -401, 401, 900])
def test_guesses_of_the_size_of_their_source_are_used(sessions, power):
    b = source("full")
    x, _ = sessions["fp64"].solve(MASS, b, tolerance=1e-11)
    again, report = sessions["fp64"].solve(MASS, times(power, b), guess=times(power, x))
    assert report["rhs"][0]["iterations"] == 0 and report["outcome"] == "certified"
    assert np.array_equal(again, times(power, x))


def test_a_guess_that_is_too_large_is_named(sessions):
    b = source("full")
    _, report = sessions["fp64"].solve(MASS, b, guess=times(1000, b))
    assert report["outcome"] == "breakdown"
    assert "initial guess" in report["explanation"]


@pytest.mark.parametrize("power", [-1073, -1060, -1040, 1021])
def test_what_a_double_cannot_hold_is_judged_as_it_is_held(sessions, links, power):
    b = times(power, source("full"))
    x, report = sessions["fp64"].solve(MASS, b, tolerance=1e-10)
    left = residual(StaggeredOperator(links), MASS, "full", x, b)
    assert report["rhs"][0]["residual_true"] == pytest.approx(left, rel=1e-3, abs=1e-14, nan_ok=True)
    assert (report["outcome"] == "certified") == (left <= 1e-10)
    if report["outcome"] != "certified":
        assert "fewer digits" in report["explanation"]


def test_many_sources_in_turns_are_of_any_size(links, tmp_path):
    session, b = staghorn.Session(links, no_verify=True, sloppy="none"), source("full")
    x, _ = session.solve(MASS, b)
    paths = []
    for power in (0, *POWERS):
        paths.append(tmp_path / f"b{power}.npy")
        np.save(paths[-1], times(power, b))
    found, report = session.solve(MASS, sources=[f"file:{path}" for path in paths], batch=4)
    assert report["outcome"] == "certified"
    for of_one, power in zip(found, (0, *POWERS)):
        assert np.array_equal(of_one.reshape(x.shape), times(power, x))


@pytest.mark.parametrize("power", [-500, 500])
def test_through_the_c_interface(links, power):
    gauge, b = package.Context(EXTENTS).gauge(links), source("full")
    x, _ = gauge.solve(MASS, b)
    found, report = gauge.solve(MASS, times(power, b))
    assert report.outcome == "certified"
    assert np.array_equal(found, times(power, x))
    _, report = gauge.solve(MASS, times(power, b), max_iterations=5)
    assert report.outcome == "out_of_iterations"
    found, report = gauge.multishift([0.0, 0.5], times(power, b), mass=MASS)
    assert report.outcome == "certified"
    expected, _ = gauge.multishift([0.0, 0.5], b, mass=MASS)
    assert np.array_equal(found, times(power, expected))


@pytest.mark.parametrize("power", [-139, 126])
def test_vectors_of_fp32_that_cannot_hold_the_solution_are_named(links, power):
    gauge, b = package.Context(EXTENTS).gauge(links), source("full")
    _, report = gauge.solve(MASS, b.astype(np.complex64))
    assert report.outcome == "certified"
    b = times(power, b).astype(np.complex64)
    options = {"max_iterations": 1000, "tolerance": 1e-4}
    for request in (lambda: gauge.solve(2.0**-12, b, **options), lambda: gauge.solve(None, b, masses=[2.0**-12, 8.0], **options),
                    lambda: gauge.solve(2.0**-12, np.array([b, b, b]), batch=2, **options), lambda: gauge.multishift([0, 0.1], b, mass=2.0**-12, **options)):
        _, report = request()
        assert report.rhs[0].outcome == "stagnated" and "fp32" in report.explanation


@pytest.mark.parametrize("power", [-110, -100, 100, 110])
def test_vectors_of_fp32_hold_solutions_of_their_range(links, power):
    gauge, b = package.Context(EXTENTS).gauge(links), source("full").astype(np.complex64)
    x, _ = gauge.solve(MASS, b)
    found, report = gauge.solve(MASS, times(power, b.astype(complex)).astype(np.complex64))
    assert report.outcome == "certified"
    assert np.array_equal(found, times(power, x.astype(complex)).astype(np.complex64))


def test_links_beyond_all_precisions_are_refused(links):
    with pytest.raises(package.Error, match="1e12"):
        package.Context(EXTENTS).gauge(links * 1e20, naik=links * 1e20)
