"""Flexible CG with a Chebyshev polynomial: the same solutions, as many products with A, and far fewer iterations."""

from __future__ import annotations

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
MASS = 0.05


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=81)


@pytest.fixture(scope="module")
def plain(links):
    return staghorn.Session(links)


@pytest.mark.parametrize("system", ["full", "even", "odd"])
@pytest.mark.parametrize("products", [1, 2, 7, 40])
@pytest.mark.parametrize("numbers", [{"sloppy": "none"}, {"sloppy": "fp32"}, {"sloppy": "fp16"}, {"links": 12}])
def test_a_polynomial_saves_iterations_and_changes_no_solution(links, plain, system, products, numbers):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (82, 83)])
    if system != "full":
        b = np.array([reference.keep_parity(one, ["even", "odd"].index(system)) for one in b])
    _, of_cg = plain.solve(MASS, b, system=system)
    x, report = staghorn.Session(links, preconditioner=f"chebyshev:{products}", **numbers).solve(MASS, b, system=system)
    assert (report["outcome"], report["solver"], report["preconditioner"]) == ("certified", "flexible", f"chebyshev:{products}")
    assert of_cg["spectrum"] and not report["spectrum"]  # its coefficients are not those of A
    operator = StaggeredOperator(links)
    for one, of_x, rhs, cg in zip(b, x, report["rhs"], of_cg["rhs"]):
        left = operator.m(MASS, of_x) if system == "full" else operator.a(MASS, of_x)
        assert relative_difference(left, one) <= 1e-10
        assert cg["iterations"] > 100
        # one product more an iteration than the polynomial has; the last iteration is a whole one
        assert rhs["iterations"] <= 1.3 * cg["iterations"] / (products + 1) + 1


def test_bits_are_those_of_any_cut(links):
    b = reference.random_vector(EXTENTS, 84)
    found = [staghorn.Session(links, preconditioner="chebyshev:5", sloppy="fp16", loopback=cut).solve(MASS, b) for cut in ("", "xyzt", "yt")]
    assert all(np.array_equal(x, found[0][0]) for x, _ in found)
    assert len({repr(report["rhs"][0]["history"]) for _, report in found}) == 1


def test_a_right_hand_side_has_the_bits_that_it_has_alone(links):
    session = staghorn.Session(links, preconditioner="chebyshev:3")
    b = np.array([reference.random_vector(EXTENTS, 85), np.zeros_like(reference.random_vector(EXTENTS, 85))])
    b[1][0, 0, 0, 0, 0] = 1
    together, _ = session.solve(MASS, b)
    assert all(np.array_equal(session.solve(MASS, one)[0], x) for one, x in zip(b, together))


@pytest.mark.parametrize("options, found", [
    ({"preconditioner": "chebyshev"}, "'chebyshev'"),
    ({"preconditioner": "chebyshev:0"}, "'chebyshev:0'"),
    ({"preconditioner": "chebyshev:-1"}, "'chebyshev:-1'"),
    ({"preconditioner": "chebyshev:1001"}, "'chebyshev:1001'"),
    ({"preconditioner": "chebyshev:8x"}, "'chebyshev:8x'"),
    ({"preconditioner": "jacobi:2"}, "'jacobi:2'"),
])
def test_a_preconditioner_that_is_none_is_refused(links, options, found):
    with pytest.raises(staghorn.Error, match="preconditioner: expected none, chebyshev:N with 1 to 1000 products with A, found " + found):
        staghorn.Session(links, **options)


def test_solvers_that_take_none_are_refused(links):
    for solver in ("cg", "block"):
        with pytest.raises(staghorn.Error, match=f"solver: expected auto, flexible .*, found '{solver}'"):
            staghorn.Session(links, solver=solver, preconditioner="chebyshev:2")
    with pytest.raises(staghorn.Error, match="solver: expected auto, cg, block .*, found 'flexible'"):
        staghorn.Session(links, solver="flexible")
    session = staghorn.Session(links, preconditioner="chebyshev:2")
    with pytest.raises(staghorn.Error, match="solver: expected another one with several masses, found flexible"):
        session.solve(None, reference.random_vector(EXTENTS, 86), masses=[0.1, 0.2])
