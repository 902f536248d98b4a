"""Mesons: the equations in NumPy, identities, gauge covariance, places of sources, names."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import meson_reference, reference

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
MASSES = [0.4, 0.7]
ODD_SITE = (3, 2, 5, 7)
# Every set of shifts, and all momenta and symmetries.
ALL = "all,all-local:p100,all:p-120:EO.O.E,rhox:p123:EO"


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=301)


def measured(links, source: str, mesons: str, **options) -> list:
    session = staghorn.Session(links, order="lex", **options)
    _, report = session.solve(None, source, masses=MASSES, mesons=mesons, tolerance=1e-13)
    return report.mesons


def norms_of(mesons: list) -> dict:
    """sqrt(sum |G1|^2 sum |G2|^2) of the slices, by masses."""
    pions = {tuple(m.masses): np.array(m.values)[:, 0] for m in mesons if m.name == "pion5"}
    return {(a, b): np.sqrt(pions[a, a] * pions[b, b]) for a in MASSES for b in MASSES}


def curve(meson) -> np.ndarray:
    return np.array(meson.values) @ [1, 1j]


@pytest.mark.parametrize("source", ["point:3,2,5,7", "wall:3"])
@pytest.mark.parametrize("boundary", [(0, 0, 0, 1), (0.3, 0, 0.5, 0.7)], ids=["antiperiodic", "twisted"])
def test_all_operators_follow_the_equations(links, source, boundary):
    origin = ODD_SITE if source.startswith("point") else (0, 0, 0, 3)
    found = measured(links, source, "pion5," + ALL, boundary=",".join(map(str, boundary)))
    assert len(found) == 4 * (1 + 256 + 16 + 256 + 1)
    operator = reference.StaggeredOperator(links, boundary)
    x = reference.coordinates(EXTENTS)
    at_source = np.logical_and.reduce([x[mu] == origin[mu] for mu in range(0 if source.startswith("point") else 3, 4)])
    b = [at_source[..., None] * np.eye(3)[c] + 0j for c in range(3)]
    quarks = {mass: [operator.solve(mass, v, 1e-14)[0] for v in b] for mass in MASSES}
    spin_taste = meson_reference.SpinTasteOperators(links, boundary, origin=origin)
    norms, checked, operated = norms_of(found), 0, {}
    rng = np.random.default_rng(1)
    for k in rng.choice(len(found), 60, replace=False):
        meson = found[k]
        anti, quark = meson.masses
        if (meson.name, anti) not in operated:
            operated[meson.name, anti] = [spin_taste.apply(meson.name, v) for v in quarks[anti]]
        weight = meson_reference.momentum_weight(EXTENTS, meson.momentum, meson.symmetry, origin)
        expected = meson_reference.meson(operated[meson.name, anti], quarks[quark], weight)
        assert np.all(abs(curve(meson) - expected) <= 1e-11 * norms[anti, quark]), meson.name
        checked += np.any(abs(expected) > 1e-6 * norms[anti, quark])
    assert checked > 30, "values that are not zero"


def test_the_pion_at_rest_is_the_pion_correlator(links):
    session = staghorn.Session(links, order="lex")
    _, report = session.solve(0.5, "corner-wall:2", mesons="pion5,G5-G5,pions")
    pion, same, other = report.mesons
    np.testing.assert_allclose(curve(pion), report.pion_correlator, rtol=1e-14)
    assert pion.values == same.values
    assert pion.source == "corner-wall:2" and pion.masses == [0.5, 0.5] and other.values != pion.values


def test_point_sources_give_gauge_covariant_mesons(links):
    rotated = reference.gauge_transform_links(links, reference.random_su3(np.random.default_rng(5), EXTENTS[::-1]))
    # The colours of a point source are summed over, so a rotation at the source drops out.
    before, after = (measured(u, "point:1,0,2,3", "pion5,all:p110:EO") for u in (links, rotated))
    norms = norms_of(before)
    for one, other in zip(before, after, strict=True):
        assert np.all(abs(curve(one) - curve(other)) <= 1e-11 * norms[tuple(one.masses)]), one.name


def test_a_moved_source_sees_moved_links_alike(links):
    """Signs and phases are counted from the source: moving both changes the time slice alone."""
    shift = (1, 3, 2, 5)
    moved = np.roll(links, shift[::-1], axis=(0, 1, 2, 3))
    periodic = {"boundary": "periodic,periodic,periodic,periodic"}
    here = measured(links, "point:0,0,0,0", "pion5,all:p120:EO", **periodic)
    there = measured(moved, "point:1,3,2,5", "pion5,all:p120:EO", **periodic)
    norms = norms_of(here)
    for one, other in zip(here, there, strict=True):
        assert np.all(abs(curve(one) - np.roll(curve(other), -shift[3])) <= 1e-11 * norms[tuple(one.masses)]), one.name


@pytest.mark.parametrize("mesons, words", [
    ("pion6", ["mesons", "'pion6'", "pion5"]),
    ("GX-G5W", ["mesons", "'GX-G5W'", "GX-G5"]),
    ("rhox:100", ["momentum", "'100'"]),
    ("rhox:p10", ["momentum", "'p10'"]),
    ("rhox:p100:EOEO", ["EO.E.O", "'EOEO'"]),
    ("", ["mesons"]),
])
def test_wrong_words_say_what_may_be_meant(links, mesons, words):
    with pytest.raises(staghorn.Error) as error:
        staghorn.Session(links, order="lex").solve(0.5, "point:0,0,0,0", mesons=mesons)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_baryons_follow_the_equations(links):
    """A nucleon is a determinant of solutions; Delta is antisymmetric in the colours of the source, so a sum of six determinants."""
    session = staghorn.Session(links, order="lex")
    solutions, report = session.solve(None, "wall:3", masses=MASSES, baryons="delta,nucleon", tolerance=1e-12)
    found = {(b.name, *b.masses): np.array(b.values) @ [1, 1j] for b in report.baryons}
    assert len(found) == len(report.baryons) == 2 + 8
    x, y, z, t = reference.coordinates(EXTENTS)
    even = (x % 2 == 0) & (y % 2 == 0) & (z % 2 == 0)
    a, b = MASSES
    rows = np.stack([solutions[0][0], solutions[1][1], solutions[0][2]], axis=-2)
    np.testing.assert_allclose(found["nucleon", a, b, a], (even * np.linalg.det(rows)).sum(axis=(1, 2, 3)), rtol=0, atol=1e-13 * np.max(abs(found["nucleon", a, b, a])))
    moved = [[reference.shifted(g, mu, +1) + reference.shifted(g, mu, -1) for g in solutions[1]] for mu in range(3)]
    total = sum(sign * np.linalg.det(np.stack([moved[mu][c] for mu, c in enumerate(order)], axis=-2)).real
                for order, sign in {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (0, 2, 1): -1, (2, 1, 0): -1, (1, 0, 2): -1}.items())
    delta = ((-1.0) ** (t - 3) * even * total).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(found["delta", b, b, b], delta, rtol=0, atol=1e-12 * np.max(abs(delta)))
    assert np.max(abs(delta)) > 0


def test_what_cannot_be_measured_is_refused(links):
    session = staghorn.Session(links[:8], order="lex", action="hisq")
    for options, word in [({"source": "z2:1"}, "point or wall"), ({"color": 1}, "three colours"), ({"system": "even"}, "full system"),
                          ({"mesons": "GX-G1"}, "keep_thin_links"), ({"baryons": "proton"}, "nucleon or delta"),
                          ({"source": "z2:1", "mesons": None, "baryons": "nucleon"}, "point or wall")]:
        with pytest.raises(staghorn.Error, match=word):
            session.solve(0.5, options.pop("source", "point:0,0,0,0"), **{name: value for name, value in {"mesons": "rhox", **options}.items() if value})
    _, report = session.solve(0.5, "point:0,0,0,0", mesons="rhox")
    assert len(report.mesons) == 1
