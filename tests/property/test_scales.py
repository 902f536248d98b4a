"""Sources, links, masses and guesses of any size: what is certified is true, and a power of two changes no bit."""

from __future__ import annotations

import os

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")
import staghorn as package  # noqa: E402

EXTENTS = (4, 2, 6, 6)
MASS = 0.25
POWERS = [-1000, -900, -490, -401, -250, 250, 401, 490, 900, 1000]
# By hand: more of them, from other seeds side by side.
RANDOM_CASES, RANDOM_SEED = int(os.environ.get("STAGHORN_RANDOM_SOLVES", "300")), int(os.environ.get("STAGHORN_RANDOM_SEED", "3"))


def times(power, field):
    """`field` times 2^power, rounded once where a double has fewer digits."""
    return np.ldexp(np.ascontiguousarray(field).view(float), power).view(complex)


def exponent(field):
    """The power of two of its largest number."""
    return int(np.frexp(np.max(np.abs(field.view(float))))[1])


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


@pytest.mark.parametrize("power", [-110, 126])
def test_vectors_of_fp32_that_cannot_hold_the_solution_are_named(links, power):
    gauge, b = package.Context(EXTENTS).gauge(links), source("full")
    _, report = gauge.solve(MASS, b.astype(np.complex64))
    assert report.outcome == "certified"
    _, report = gauge.solve(2.0**-12, times(power, b).astype(np.complex64), max_iterations=1000, tolerance=1e-4)
    assert report.outcome == "stagnated" and "fp32" in report.explanation


def test_links_beyond_all_precisions_are_refused(links):
    with pytest.raises(package.Error, match="1e12"):
        package.Context(EXTENTS).gauge(links * 1e20, naik=links * 1e20)


def test_no_random_request_is_certified_wrongly():
    """Sources of 2^-1000 to 2^1000, masses, tolerances, systems and limits at random, judged by NumPy."""
    rng, extents = np.random.default_rng(RANDOM_SEED), (2, 2, 4, 2)
    outcomes = set()
    for case in range(RANDOM_CASES):
        if case % 100 == 0:
            links = reference.random_links(extents, seed=RANDOM_SEED + case)
            session, operator = staghorn.Session(links, sloppy=["none", "fp32", "fp16"][case // 100 % 3]), StaggeredOperator(links)
        system = ["full", "even", "odd"][rng.integers(3)]
        b = reference.random_vector(extents, RANDOM_SEED + case)
        b *= rng.random(b.shape) < rng.random()  # points to full vectors
        if system != "full":
            b = reference.keep_parity(b, ["even", "odd"].index(system))
        if not b.any():
            continue
        b = times(int(rng.integers(-1000, 1001)), b)
        mass, tolerance = 2.0 ** rng.uniform(-6, 4), 10.0 ** rng.uniform(-14, -1)
        masses = [mass, *mass * 2.0 ** rng.uniform(0, 4, 2)] if rng.random() < 0.3 else []
        x, report = session.solve(None if masses else mass, b, system=system, tolerance=tolerance,
                                  max_iterations=int(10 ** rng.uniform(0, 3)), **({"masses": masses} if masses else {}))
        for of_mass, of_x, rhs in zip(masses or [mass], x if masses else [x], report["rhs"]):
            outcomes.add(rhs["outcome"])
            left = residual(operator, of_mass, system, of_x, b)
            # Products with A in fp64, here and in the certificate, have errors of a few 2^-53 |x| each.
            rounding = 1e-15 * (1 + np.linalg.norm(times(-exponent(b), of_x)) / np.linalg.norm(times(-exponent(b), b)))
            assert rhs["outcome"] != "certified" or left <= tolerance * 1.001 + rounding, (case, left, tolerance)
            assert not np.isfinite(left) or rhs["residual_true"] == pytest.approx(left, rel=1e-2, abs=1e-14 * (1 + 1 / of_mass)), case
    assert {"certified", "out_of_iterations"} <= outcomes
