"""What every report says of the matrix and of the residual, judged by dense eigenvalues and by the NumPy operator."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (2, 4, 2, 6)
MASS = 0.05


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=31)


@pytest.fixture(scope="module")
def eigenvalues(links):
    """Of A = 4 m^2 - D^2 on even sites, by LAPACK."""
    operator = StaggeredOperator(links)
    places = np.argwhere(np.repeat((reference.parity(EXTENTS) == 0)[..., None], 3, axis=-1))
    columns = []
    for place in places:
        unit = np.zeros((*reference.parity(EXTENTS).shape, 3), complex)
        unit[tuple(place)] = 1
        columns.append(operator.a(MASS, unit)[tuple(places.T)])
    return np.linalg.eigvalsh(np.array(columns).T)


@pytest.mark.parametrize("options, within", [({"sloppy": "none"}, 1e-6), ({"precision": "fp32"}, 1e-3), ({"sloppy": "fp32"}, 1e-3),
                                             ({"sloppy": "fp16", "links": 12}, 2e-2), ({"sloppy": "none", "loopback": "y"}, 1e-6)])
def test_cg_tells_the_ends_of_the_spectrum(links, eigenvalues, options, within):
    b = reference.random_vector(EXTENTS, 32)
    spectrum = staghorn.Session(links, order="lex", **options).solve(MASS, b, tolerance=1e-11)[1]["spectrum"]
    assert spectrum["smallest"] == pytest.approx(eigenvalues[0], rel=within)
    assert spectrum["largest"] == pytest.approx(eigenvalues[-1], rel=within)
    assert spectrum["condition"] == pytest.approx(eigenvalues[-1] / eigenvalues[0], rel=2 * within)


def test_estimates_lie_within_the_spectrum_from_the_start(links, eigenvalues):
    b = reference.random_vector(EXTENTS, 33)
    session = staghorn.Session(links, order="lex")
    found = [session.solve(MASS, b, max_iterations=n)[1]["spectrum"] for n in (2, 5, 20)]
    assert all(eigenvalues[0] * (1 - 1e-6) <= s["smallest"] < s["largest"] <= eigenvalues[-1] * (1 + 1e-6) for s in found)
    assert found[0]["smallest"] > found[1]["smallest"] > found[2]["smallest"]
    assert session.solve(MASS, b, max_iterations=1)[1]["spectrum"] is None


def heavy_quark_residual(r, x, sites):
    r2, x2 = (abs(r) ** 2).sum(-1)[sites], (abs(x) ** 2).sum(-1)[sites]
    return np.sqrt(np.where(x2 == 0, 1, r2 / np.where(x2 == 0, 1, x2)).mean())


@pytest.mark.parametrize("system", ["full", "even", "odd"])
@pytest.mark.parametrize("loopback", ["", "t"])
def test_heavy_quark_residual_is_relative_at_each_site(links, system, loopback):
    operator = StaggeredOperator(links)
    b = np.zeros((*reference.parity(EXTENTS).shape, 3), complex)
    b[(0, 0, 0, 0, 1) if system != "odd" else (1, 0, 0, 0, 1)] = 1
    x, report = staghorn.Session(links, order="lex", loopback=loopback).solve(MASS, b, system=system, tolerance=1e-6)
    r = b - (operator.m(MASS, x) if system == "full" else operator.a(MASS, x))
    parity = reference.parity(EXTENTS)
    sites = parity >= 0 if system == "full" else parity == (system == "odd")
    assert report["rhs"][0]["residual_hq"] == pytest.approx(heavy_quark_residual(r, x, sites), rel=1e-6)


def test_heavy_quark_residual_is_a_stopping_criterion():
    links = reference.random_links((4, 4, 4, 12), seed=34)
    session = staghorn.Session(links, order="lex")
    _, without = session.solve(2, "point:0,0,0,0", color=0, tolerance=1e-3)
    _, report = session.solve(2, "point:0,0,0,0", color=0, tolerance=1e-3, tolerance_hq=1e-6)
    assert without["outcome"] == report["outcome"] == "certified"
    assert without["rhs"][0]["residual_hq"] > 1e-5  # a heavy quark falls off, and the usual residual does not see it
    assert report["rhs"][0]["residual_hq"] <= 1e-6 and report["tolerance_hq"] == 1e-6
    assert report["rhs"][0]["iterations"] > without["rhs"][0]["iterations"]


def test_a_solve_that_falls_short_says_what_the_matrix_is_like(links):
    _, report = staghorn.Session(links, order="lex").solve(0.001, "z2:1", max_iterations=30)
    assert report["outcome"] == "out_of_iterations"
    assert "condition number of" in report["explanation"] and "iterations" in report["explanation"]
    _, report = staghorn.Session(links, order="lex").solve(0.001, "z2:1", tolerance=1e-17)
    assert report["outcome"] == "stagnated" and "Rounding in fp64 leaves about" in report["explanation"]
    rhs = report["rhs"][0]
    assert rhs["residual_true"] / 30 < rhs["attainable"] < 30 * rhs["residual_true"]


@pytest.mark.parametrize("value", ["0", "1", "-1e-3", "nan"])
def test_a_heavy_quark_tolerance_that_is_none_is_refused(links, value):
    with pytest.raises(staghorn.Error, match="tolerance_hq: expected a residual between 0 and 1"):
        staghorn.Session(links, order="lex").solve(0.5, "z2:1", tolerance_hq=value)
