"""Properties of the solver on small random lattices with four different extents, judged by the NumPy operator."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
MASS = 0.25
ANTIPERIODIC_T = (0, 0, 0, 1)
TOLERANCE = {"fp64": 1e-11, "fp32": 2e-6}
SYSTEMS = ["full", "even", "odd"]


def equation(links, system, boundary=ANTIPERIODIC_T, phases="cps"):
    """The left-hand side of the system as a function of x, by NumPy."""
    operator = StaggeredOperator(links, boundary=boundary, phases=phases)
    return lambda x: operator.m(MASS, x) if system == "full" else operator.a(MASS, x)


def right_hand_side(extents, system, seed):
    b = reference.random_vector(extents, seed)
    return b if system == "full" else reference.keep_parity(b, SYSTEMS.index(system) - 1)


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=21)


@pytest.fixture(scope="module")
def session(links):
    """Its answers are compared with those of the textbook, iteration by iteration."""
    return staghorn.Session(links, sloppy="none")


@pytest.mark.parametrize("loopback", ["", "x", "yt", "xyzt"])
@pytest.mark.parametrize("reals", [18, 12, 8])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_solution_satisfies_the_equation(links, system, precision, reals, loopback):
    session = staghorn.Session(links, precision=precision, links=reals, loopback=loopback)
    b = right_hand_side(EXTENTS, system, 22)
    x, report = session.solve(MASS, b, system=system, tolerance=TOLERANCE[precision])
    assert report["outcome"] == "certified"
    residual = relative_difference(equation(links, system)(x), b)
    assert residual <= TOLERANCE[precision]
    assert report["rhs"][0]["residual_true"] == pytest.approx(residual, rel=1e-2)


@pytest.mark.parametrize("extents", list(permutations(EXTENTS)), ids=lambda e: "x".join(map(str, e)))
def test_axes_are_not_confused(extents):
    links = reference.random_links(extents, seed=23)
    boundary = (0.25, 1, -0.5, 1 / 3)
    b = reference.random_vector(extents, 24)
    x, _ = staghorn.solve(links, MASS, b, boundary=boundary, tolerance=1e-10, order="lex")
    assert relative_difference(equation(links, "full", boundary)(x), b) <= 1e-10


@pytest.mark.parametrize("extents", [(2, 2, 2, 2), (2, 4, 6, 2), (6, 2, 2, 14), (10, 6, 2, 4), (16, 2, 4, 2)],
                         ids=lambda e: "x".join(map(str, e)))
@pytest.mark.parametrize("loopback", ["", "xyzt"])
def test_odd_shapes_run(extents, loopback):
    links = reference.random_links(extents, seed=25)
    b = reference.random_vector(extents, 26)
    x, _ = staghorn.solve(links, MASS, b, tolerance=1e-10, loopback=loopback, order="lex")
    assert relative_difference(equation(links, "full")(x), b) <= 1e-10


@pytest.mark.parametrize("boundary", [(0, 0, 0, 0), (1, 1, 1, 1), (0.1, 0.2, 0.3, 0.4)], ids=str)
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize("reals", [18, 12, 8])
def test_boundary_phases_are_those_of_the_equation(links, boundary, precision, reals):
    b = reference.random_vector(EXTENTS, 27)
    x, _ = staghorn.solve(links, MASS, b, boundary=boundary, precision=precision, links=reals,
                          tolerance=TOLERANCE[precision])
    assert relative_difference(equation(links, "full", boundary)(x), b) <= TOLERANCE[precision]


def test_solution_is_gauge_covariant(links, session):
    nx, ny, nz, nt = EXTENTS
    g = reference.random_su3(np.random.default_rng(28), (nt, nz, ny, nx))
    b = reference.random_vector(EXTENTS, 29)
    x, _ = session.solve(MASS, b, tolerance=1e-12)
    transformed = staghorn.Session(reference.gauge_transform_links(links, g))
    found, _ = transformed.solve(MASS, reference.gauge_transform_vector(b, g), tolerance=1e-12)
    assert relative_difference(found, reference.gauge_transform_vector(x, g)) < 1e-10
    assert transformed.gauge["plaquette"] == pytest.approx(session.gauge["plaquette"], abs=1e-14)


@pytest.mark.parametrize("momentum", [(0, 0, 0, 0), (1, 2, 3, 4), (-1, 0, 2, 1)], ids=str)
@pytest.mark.parametrize("boundary", [ANTIPERIODIC_T, (0.5, 0, 1, 0.25)], ids=str)
def test_plane_wave_on_free_links_is_solved_in_one_iteration(momentum, boundary):
    wave, p = reference.plane_wave(EXTENTS, momentum, boundary)
    b = reference.keep_parity(wave[..., None] * np.array([1, 1j, -0.5]), 0)
    x, report = staghorn.solve(reference.free_links(EXTENTS), MASS, b, system="even", boundary=boundary, tolerance=1e-12,
                               sloppy="none")
    eigenvalue = 4 * MASS**2 + 4 * (np.sin(p) ** 2).sum()
    assert report["rhs"][0]["iterations"] == 1
    assert relative_difference(x, b / eigenvalue) < 1e-14


@pytest.mark.parametrize("site", [(0, 0, 0, 0), (3, 2, 5, 7)], ids=str)
def test_trace_of_the_propagator_is_its_norm(session, site):
    # M + M^dagger = 4m, so G + G^dagger = 4m G^dagger G: Re tr G(y,y) = 2m sum_x |G(x,y)|^2.
    solutions, report = session.solve(MASS, "point:%d,%d,%d,%d" % site, tolerance=1e-13)
    x, y, z, t = site
    trace = sum(solutions[c, t, z, y, x, c].real for c in range(3))
    assert trace == pytest.approx(2 * MASS * reference.norm2(solutions), rel=1e-12)
    assert sum(report["pion_correlator"]) == pytest.approx(reference.norm2(solutions), rel=1e-13)


def test_translation_by_even_steps_moves_the_solution_to_the_last_bit(links):
    shift = dict(zip((0, 1, 2, 3), (4, 2, 6, 2)))  # of axes T, Z, Y, X
    move = lambda field: np.roll(field, tuple(shift.values()), axis=tuple(shift))
    b = reference.random_vector(EXTENTS, 30)
    periodic = dict(boundary=(0, 0, 0, 0), tolerance=1e-10)
    x, _ = staghorn.solve(links, MASS, b, **periodic)
    moved, _ = staghorn.solve(move(links), MASS, move(b), **periodic)
    assert np.array_equal(moved, move(x))


def test_scaling_by_a_power_of_two_changes_no_bit(session):
    b = reference.random_vector(EXTENTS, 31)
    x, report = session.solve(MASS, b)
    scaled, scaled_report = session.solve(MASS, 2.0**40 * b)
    assert np.array_equal(scaled, 2.0**40 * x)
    assert scaled_report["rhs"][0]["history"] == report["rhs"][0]["history"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_milc_phases_are_an_exact_sign_away(links, session, system):
    s = reference.milc_sign(EXTENTS)
    b = right_hand_side(EXTENTS, system, 32)
    milc, _ = session.solve(MASS, b, system=system, phases="milc")
    cps, _ = session.solve(MASS, s * b, system=system)
    assert np.array_equal(milc, s * cps)
    assert relative_difference(equation(links, system, phases="milc")(milc), b) <= 1e-10


@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_batch_has_the_bits_of_single_solves(links, precision):
    session = staghorn.Session(links, precision=precision, sloppy="none")
    sources = np.array([reference.random_vector(EXTENTS, seed) * 10.0**seed for seed in range(5)])
    sources[2] = reference.point_source(EXTENTS, (1, 2, 3, 4), 1)  # another iteration count than its neighbours
    batch, report = session.solve(MASS, sources)
    for index, b in enumerate(sources):
        single, single_report = session.solve(MASS, b)
        assert np.array_equal(batch[index], single)
        assert report["rhs"][index]["history"] == single_report["rhs"][0]["history"]


@pytest.mark.parametrize("reals", [12, 8])
def test_compressed_links_give_the_same_solution(links, session, reals):
    b = reference.random_vector(EXTENTS, 33)
    x, _ = session.solve(MASS, b, tolerance=1e-12)
    compressed, report = staghorn.solve(links, MASS, b, links=reals, tolerance=1e-12)
    assert relative_difference(compressed, x) < 1e-11
    assert report["gauge"]["reunitarized"]


def test_single_precision_agrees_with_double(links, session):
    b = reference.random_vector(EXTENTS, 34)
    x, _ = session.solve(MASS, b, tolerance=1e-12)
    x32, _ = staghorn.solve(links, MASS, b, precision="fp32", tolerance=1e-6)
    assert relative_difference(x32, x) < 1e-6 / (4 * MASS**2) * 10


def test_solution_as_guess_needs_no_iteration(session):
    b = reference.random_vector(EXTENTS, 35)
    x, _ = session.solve(MASS, b, tolerance=1e-11)
    again, report = session.solve(MASS, b, tolerance=1e-10, guess=x)
    assert report["rhs"][0]["iterations"] == 0
    assert report["outcome"] == "certified"
    assert relative_difference(again, x) < 1e-10


def test_iteration_count_is_that_of_the_textbook(links, session):
    b = right_hand_side(EXTENTS, "even", 36)
    _, iterations = StaggeredOperator(links).solve_parity(MASS, b, 1e-10)
    _, report = session.solve(MASS, b, system="even", tolerance=1e-10)
    assert abs(report["rhs"][0]["iterations"] - iterations) <= 1


@pytest.mark.parametrize("mass", [MASS, 10])
@pytest.mark.parametrize("max_iterations", range(8))
def test_solution_is_that_of_the_textbook_wherever_it_stops(links, session, max_iterations, mass):
    apply = lambda v: StaggeredOperator(links).a(mass, v)
    b = np.array([right_hand_side(EXTENTS, "even", 37), reference.point_source(EXTENTS, (2, 3, 0, 1), 2)])
    found, report = session.solve(mass, b, system="even", tolerance=1e-14, max_iterations=max_iterations)
    for x, source, rhs in zip(found, b, report["rhs"]):
        expected, iterations = reference.conjugate_gradient(apply, source, 1e-14, max_iterations)
        assert rhs["iterations"] == iterations
        assert relative_difference(x, expected) < 1e-13 if iterations else not x.any()
        assert rhs["residual_true"] == pytest.approx(relative_difference(apply(x), source), rel=1e-3, abs=1e-15)
