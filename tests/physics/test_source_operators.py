"""Operators at the source and pairs of sources: the equations in NumPy, sequential sources, the conserved charge, refusals."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from solve_files import solve
from staghorn import meson_reference, reference

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
MASS = 0.6


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=302)


def plain_source(name: str) -> tuple[np.ndarray, tuple]:
    """[3, T, Z, Y, X, 3] and the place from which operators count."""
    kind, _, place = name.partition(":")
    numbers = tuple(map(int, place.split(",")))
    x = reference.coordinates(EXTENTS)
    at = np.logical_and.reduce([x[mu] == n for mu, n in enumerate(numbers)]) if kind == "point" else x[3] == numbers[0]
    return np.array([at[..., None] * np.eye(3)[c] + 0j for c in range(3)]), numbers if kind == "point" else (0, 0, 0, *numbers)


def smeared(spin_taste, width: float, steps: int, v: np.ndarray) -> np.ndarray:
    """[1 - w^2 / (16 n) (6 - sum of both hops over two links in x, y, z)]^n v"""
    def hop(mu, direction, v):
        u = spin_taste.links[..., mu, :, :]
        if direction > 0:
            return np.einsum("...ij,...j->...i", u, reference.shifted(v, mu, +1))
        return reference.shifted(np.einsum("...ji,...j->...i", u.conj(), v), mu, -1)

    weight = width**2 / (16 * steps)
    for _ in range(steps):
        v = (1 - 6 * weight) * v + weight * sum(hop(mu, way, hop(mu, way, v)) for mu in range(3) for way in (+1, -1))
    return v


def operated(spin_taste, origin, word: str, v: np.ndarray) -> np.ndarray:
    x = reference.coordinates(EXTENTS)
    if word.startswith("t"):
        return v * (x[3] == int(word[1:]))[..., None]
    if word == "p1-20":
        return v * meson_reference.momentum_weight(EXTENTS, (1, -2, 0), "EO EO EO", origin)[..., None]
    if word.startswith("gauss"):
        width, steps = word.removeprefix("gauss").split(":")
        return smeared(spin_taste, float(width), int(steps), v)
    return sum(spin_taste.apply(name, v) for name in word.split("+"))


@pytest.mark.parametrize("source, words", [("point:3,2,5,7", ["GX-GYT", "p1-20"]), ("wall:3", ["pion5+pioni+rhoz"]),
                                           ("wall:9", ["GX-GYT", "t0"]), ("point:3,2,5,7", ["gauss1.5:3", "GX-GYT"])])
@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_operators_at_the_source_follow_the_equations(links, source, words, phases):
    boundary = (0.3, 0, 0.5, 0.7)
    session = staghorn.Session(links, order="lex", boundary=",".join(map(str, boundary)))
    solutions, report = session.solve(MASS, "@".join([source, *words]), phases=phases, tolerance=1e-13)
    assert report["source"] == "@".join([source, *words])
    vectors, origin = plain_source(source)
    operator = reference.StaggeredOperator(links, boundary, phases)
    spin_taste = meson_reference.SpinTasteOperators(links, boundary, phases, origin)
    for solution, b in zip(solutions, vectors, strict=True):
        for word in words:
            b = operated(spin_taste, origin, word, b)
        assert np.max(abs(operator.m(MASS, solution) - b)) <= 1e-12 * np.max(abs(b))


def test_a_sequential_source_is_a_solution_on_one_slice(staghorn, small_gauge, tmp_path):
    """M y = [slice 6, momentum, operator] x, and its mesons with the first solution."""
    _, first = solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--source", "point:0,0,0,2", "--tolerance", 1e-12, name="first")
    sources = f"file:{tmp_path / 'first.h5'}@t6@rhox@p1-20", "point:0,0,0,2"
    report, both = solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--sources", ";".join(sources), "--pairs", "1:0", "--mesons", "rhox:p-120:EO",
                         "--tolerance", 1e-12, name="second")
    with h5py.File(small_gauge) as file:
        links = file["links"][...].astype(complex)
    operator, spin_taste = reference.StaggeredOperator(links), meson_reference.SpinTasteOperators(links)
    for x, y in zip(first, both[:3], strict=True):
        b = operated(spin_taste, (0, 0, 0, 0), "p1-20", spin_taste.apply("rhox", operated(None, None, "t6", x)))
        assert np.max(abs(operator.m(MASS, y) - b)) <= 1e-11 * np.max(abs(b)) and np.max(abs(b)) > 0
    meson, = report["mesons"]
    assert (meson["source"], meson["quark_source"]) == sources[::-1]
    sink = meson_reference.SpinTasteOperators(links, origin=(0, 0, 0, 2))
    expected = meson_reference.meson([sink.apply("rhox", x) for x in both[3:]], both[:3], meson_reference.momentum_weight(EXTENTS, (-1, 2, 0), "EO EO EO"))
    np.testing.assert_allclose(np.array(meson["values"]) @ [1, 1j], expected, rtol=0, atol=1e-12 * np.max(abs(expected)))


def test_pairs_of_sources_follow_the_equations(links):
    session = staghorn.Session(links, order="lex")
    sources = "point:1,2,3,4@GXY-G5; point:1,2,3,4"
    masses = [0.4, 0.7]
    solutions, report = session.solve(None, None, sources=sources, masses=masses, pairs="0:1,1:1,1:0", mesons="GXY-G5:p110:EO,pion5,GX-G1",
                                      tolerance=1e-13)
    assert len(report.mesons) == 3 * 3 * 4
    quarks = np.reshape(solutions, (2, 2, 3, *solutions.shape[2:]))  # mass, source, colour
    names = [name.strip() for name in sources.split(";")]
    spin_taste = meson_reference.SpinTasteOperators(links, origin=(1, 2, 3, 4))
    pairs = set()
    for meson in report.mesons:
        a, b = names.index(meson.source), names.index(meson.quark_source)
        first, second = (quarks[masses.index(m), s] for m, s in zip(meson.masses, (a, b), strict=True))
        weight = meson_reference.momentum_weight(EXTENTS, meson.momentum, meson.symmetry, (1, 2, 3, 4))
        expected = meson_reference.meson([spin_taste.apply(meson.name, v) for v in first], second, weight)
        norm = np.sqrt((abs(first) ** 2).sum(axis=(0, 2, 3, 4, 5)) * (abs(second) ** 2).sum(axis=(0, 2, 3, 4, 5)))
        assert np.all(abs(np.array(meson.values) @ [1, 1j] - expected) <= 1e-13 * norm), meson
        pairs.add((a, b))
    assert pairs == {(0, 1), (1, 1), (1, 0)}


@pytest.mark.parametrize("action", ["naive", "hisq"])
def test_charge_is_conserved_away_from_the_sources(links, action):
    """sum_x [J_t(x,t) - J_t(x,t-1)] = sum_x [phi^+ b - c^+ psi], phi = eps G1, c = eps b1: nothing but at the sources."""
    session = staghorn.Session(links, order="lex", action=action, keep_thin_links=True)
    sources = ["point:1,2,3,4", "wall:7@pion5+rhox"]
    solutions, report = session.solve(None, None, sources=";".join(sources), masses=[0.3], pairs="0:1,1:0",
                                      mesons="conserved-t,conserved-x,rhotsfn", tolerance=1e-13)
    quarks = np.reshape(solutions, (2, 3, *solutions.shape[2:]))
    spin_taste = meson_reference.SpinTasteOperators(links, origin=(0, 0, 0, 7))
    vectors = [plain_source(sources[0])[0], np.array([operated(spin_taste, None, "pion5+rhox", v) for v in plain_source("wall:7")[0]])]
    for meson in report.mesons:
        a, b = sources.index(meson.source), sources.index(meson.quark_source)
        eps = (-1.0) ** (sum(reference.coordinates(EXTENTS)) - sum((1, 2, 3, 4) if a == 0 else (0, 0, 0, 7)))
        change = eps[..., None] * (quarks[a].conj() * vectors[b] - vectors[a].conj() * quarks[b])
        expected = change.sum(axis=(0, 2, 3, 4, 5))
        values = np.array(meson.values) @ [1, 1j]
        found, size = values - np.roll(values, 1), np.max(abs(values))
        assert size > 1e-3
        if meson.name == "conserved-t":
            assert np.all(abs(found - expected) <= 1e-11 * size)
            assert sum(abs(found) > 1e-6 * size) == 2, "on the slices of the two sources"
        else:
            assert np.max(abs(found - expected)) > 1e-6 * size


def test_naive_currents_have_one_link(links):
    """Without Naik terms the conserved current is 2 (forward - backward) parts of thin ones, as signs of eps go."""
    session = staghorn.Session(links, order="lex")
    _, report = session.solve(0.5, "point:0,0,0,0", mesons="conserved-y,rhoysfn,rhoysape,rhoysfape,rhoysbape", tolerance=1e-12)
    conserved, fat, thin, forward, backward = (np.array(m.values) @ [1, 1j] for m in report.mesons)
    np.testing.assert_array_equal(fat, thin)
    np.testing.assert_allclose(thin, (forward + backward) / 2, rtol=0, atol=1e-14 * np.max(abs(forward)))
    assert np.max(abs(conserved)) > 0


@pytest.mark.parametrize("source, words", [
    ("point:0,0,0,0@pion6", ["'pion6'", "pion5"]),
    ("point:0,0,0,0@", ["operator at the source"]),
    ("wall:0@pion5+", ["operator at the source"]),
    ("wall:0@p10", ["p100"]),
    ("wall:0@t10", ["0 to 9"]),
    ("wall:0@gauss2", ["gauss2.5:30", "'gauss2'"]),
    ("wall:0@gauss-1:9", ["a width above 0", "'gauss-1:9'"]),
    ("wall:0@gauss4:5", ["at least 6 steps", "'gauss4:5'"]),
    ("wall:0@t1x", ["t4", "'t1x'"]),
    ("file:nothing.h5@G5-G6", ["nothing.h5@G5-G6"]),
])
def test_wrong_operators_say_what_may_be_meant(links, source, words):
    with pytest.raises(staghorn.Error) as error:
        staghorn.Session(links, order="lex").solve(0.5, source)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("options, words", [
    ({"pairs": "0:2"}, ["pairs", "0 to 1"]),
    ({"pairs": "0:1,"}, ["pairs", "'0:1,'"]),
    ({"pairs": "0-1"}, ["pairs", "0:0,0:1"]),
    ({"pairs": "0:1", "mesons": None}, ["pairs", "mesons"]),
    ({"pairs": "0:1", "sources": "wall:0;z2:1"}, ["pairs", "z2:1"]),
])
def test_pairs_that_cannot_be_are_refused(links, options, words):
    options = {name: value for name, value in {"sources": "wall:0;wall:1", "mesons": "pion5", **options}.items() if value}
    with pytest.raises(staghorn.Error) as error:
        staghorn.Session(links, order="lex").solve(0.5, None, **options)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_operators_with_shifts_need_thin_links(links):
    session = staghorn.Session(links[:8], order="lex", action="hisq")
    with pytest.raises(staghorn.Error, match="keep_thin_links"):
        session.solve(0.5, "wall:0@GX-G1")
    with pytest.raises(staghorn.Error, match="keep_thin_links"):
        session.solve(0.5, "wall:0@gauss1:4")
    _, report = session.solve(0.5, "wall:0@rhox@p100")
    assert report.certified
