"""Masses, phases and tolerances of any size: a right answer, or an error that says why; and advice that can be followed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 2, 6, 8)


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=61)


@pytest.fixture(scope="module")
def operator(links):
    return StaggeredOperator(links)


POINT = np.zeros((8, 6, 2, 4, 3), complex)  # on one even site
POINT[0, 2, 0, 0, 1] = 1
SOURCES = {"even": POINT, "odd": np.roll(POINT, 1, axis=0), "noise": reference.random_vector(EXTENTS, 62),
           "hardly-odd": POINT + 1e-9 * np.roll(POINT, 1, axis=0)}
WAYS = {"cg": {"sloppy": "none"}, "mixed-fp32": {"sloppy": "fp32"}, "mixed-fp16": {"sloppy": "fp16"}, "fp32": {"precision": "fp32"},
        "block": {"solver": "block", "sloppy": "none"}, "mixed-block": {"solver": "block", "sloppy": "fp32"}}


def relative_residual(operator, mass, x, b):
    return np.linalg.norm(b - operator.m(mass, x)) / np.linalg.norm(b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mass", [1e-15, 1e-13, 1e-11, 3e-9, 1e-6])
def test_tiny_masses_are_solved_by_every_solver(links, operator, mass, way):
    session = staghorn.Session(links, **WAYS[way])
    for name, b in SOURCES.items():
        # x in fp64 and passes in fp32 leave a part of eps eps' / 2m of the odd half
        tolerance = max(1e-10, 1e-18 / mass) if way == "fp32" else 1e-10
        x, report = session.solve(mass, b, tolerance=tolerance)
        assert report["outcome"] == "certified", (name, report["explanation"])
        assert relative_residual(operator, mass, x, b) < 1.01 * tolerance


@pytest.mark.parametrize("mass", [1e-15, 1e-11, 1e-6])
def test_tiny_masses_are_solved_by_batches_and_beside_others(links, operator, mass):
    session = staghorn.Session(links, sloppy="none")
    both = np.stack([SOURCES["even"], SOURCES["noise"]])
    x, report = session.solve(mass, both)
    assert report["outcome"] == "certified"
    assert all(relative_residual(operator, mass, x[i], both[i]) < 1.01e-10 for i in range(2))
    for alone in range(2):  # each has the bits that it has alone
        assert np.array_equal(session.solve(mass, both[alone])[0], x[alone])
    for sources in (["point:0,0,0,0", "z2:1"], ["z2:1", "z2:2", "z2:3"]):
        for options in ({"sloppy": "none"}, {"sloppy": "fp32"}):
            report = staghorn.Session(links, **options).solve(mass, sources=sources, batch=2, color=0)[1]
            assert report["outcome"] == "certified"
    x, report = session.solve(None, SOURCES["noise"], masses=[mass, 0.3])
    assert report["outcome"] == "certified" and relative_residual(operator, mass, x[0], SOURCES["noise"]) < 1.01e-10


@pytest.mark.parametrize("way", WAYS)
def test_a_source_whose_odd_half_the_hop_takes_away_is_solved(way):
    """Free links, and a constant on odd sites: D_eo b_o is 0, so b' = 2m b_e is far smaller than b."""
    parity, t = reference.parity(EXTENTS), np.arange(8)[:, None, None, None]
    wave = np.where(parity == 0, np.cos(2 * np.pi * t / 8), 1.0)
    b = np.repeat(wave[..., None], 3, axis=-1).astype(complex)
    free = np.broadcast_to(np.eye(3, dtype=complex), (8, 6, 2, 4, 4, 3, 3)).copy()
    x, report = staghorn.Session(free, boundary="periodic,periodic,periodic,periodic", **WAYS[way]).solve(1e-11, b, tolerance=1e-5)
    assert report["outcome"] == "certified", report["explanation"]
    operator = StaggeredOperator(free, boundary=(0, 0, 0, 0))
    assert relative_residual(operator, 1e-11, x, b) < 1.01e-5


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mass", [1e4, 1e9, 1e15])
@pytest.mark.parametrize("system", ["full", "even"])
def test_huge_masses_are_solved(links, operator, mass, system, way):
    b = SOURCES["noise"]
    x, report = staghorn.Session(links, **WAYS[way]).solve(mass, b, system=system, tolerance=1e-10)
    assert report["outcome"] == "certified"
    if system == "full":
        assert relative_residual(operator, mass, x, b) < 1.01e-10
    else:
        even = reference.parity(EXTENTS) == 0
        expected = b[even] / (4 * mass**2)
        assert np.linalg.norm(x[even] - expected) < (64 / mass**2 + 1e-9) * np.linalg.norm(expected)


@pytest.mark.parametrize("system, mass, why", [
    ("full", 1e-16, "at least 1e-15 for the full system"), ("full", 5e-324, "at least 1e-15 for the full system"),
    ("full", 1e200, "at most 1e15"), ("even", 1e200, "at most 1e15"), ("odd", 1.1e15, "at most 1e15"), ("full", 0, "above 0"),
    ("even", -5e-324, "at least 0")])
def test_masses_that_rounding_makes_senseless_are_refused(links, system, mass, why):
    session = staghorn.Session(links)
    with pytest.raises(staghorn.Error, match=f"^mass: expected .*{why}"):
        session.solve(mass, POINT, system=system)
    with pytest.raises(staghorn.Error, match=f"^masses: expected .*{why}"):
        session.solve(None, POINT, masses=[0.5, mass], system=system)


@pytest.mark.parametrize("mass", [0, 5e-324, 1e-200, 1e-20])
def test_a_parity_system_may_have_any_small_mass(links, operator, mass):
    x, report = staghorn.Session(links).solve(mass, POINT, system="even")
    assert report["outcome"] == "certified"
    assert np.linalg.norm(POINT - operator.a(0, x)) < 1.1e-10


ADVICE = re.compile(r"`(tolerance|tolerance_hq)` ([0-9.e+-]*[0-9])")


@pytest.mark.parametrize("asked", [
    {"tolerance": 1e-18}, {"tolerance": 1e-300}, {"tolerance": 5e-324}, {"tolerance": 0.5, "tolerance_hq": 1e-18},
    {"tolerance": 1e-3, "tolerance_hq": 1e-300}, {"tolerance": 1e-18, "tolerance_hq": 1e-18}, {"tolerance": 1e-18, "tolerance_hq": 0.9}])
@pytest.mark.parametrize("mass", [1e-13, 0.1, 1e4])
@pytest.mark.parametrize("way", ["cg", "fp32", "mixed-fp32"])
@pytest.mark.parametrize("source", ["even", "noise"])
def test_advice_can_be_followed(links, asked, mass, way, source):
    """What the explanation calls within reach is certified where it is asked for."""
    session = staghorn.Session(links, **WAYS[way])
    for _ in range(2):
        report = session.solve(mass, SOURCES[source], **asked)[1]
        if report["outcome"] == "certified":
            return
        assert report["outcome"] == "stagnated"
        rhs, said = report["rhs"][0], re.search(r"(falling further|search directions)(.*)", report["explanation"])[2]
        found = {"tolerance": rhs["residual_true"], "tolerance_hq": rhs["residual_hq"]}
        missing = {name for name in asked if found[name] > asked[name]}
        if "below 1 is within reach" in said:
            assert any(f"`{name}`" in said and found[name] >= 0.25 for name in found)
            return
        advice = {name: float(value) for name, value in ADVICE.findall(said)}
        assert set(advice) == missing and all(0 < value < 1 for value in advice.values())
        asked = {**asked, **advice}
    raise AssertionError(report["explanation"])


@pytest.mark.parametrize("theta", [1e17, -1e17, 2.0**20 + 1, 1e300])
def test_phases_that_a_double_does_not_resolve_are_refused(links, theta):
    with pytest.raises(staghorn.Error, match="^boundary: expected phases of size up to 1048576"):
        staghorn.Session(links, boundary=f"0,0,0,{theta!r}")
    with pytest.raises(staghorn.Error, match="^boundary: "):
        staghorn.Session(links, boundary=(theta, 0, 0, 1))


@pytest.mark.parametrize("theta, turns", [(0.3, 2), (0.3, 1000), (0.5, 2**19), (1.25, 2**20 - 4), (-0.3, -1000), (-0.7, -(2**19))])
def test_phases_are_taken_modulo_whole_turns(links, theta, turns):
    """Kernels and certificate see what is left of the phase exactly: the bits are those of the phase without turns."""
    far = theta + turns
    near = far - turns  # exact: the digits of theta that are left
    x = [staghorn.Session(links, boundary=(0, t, 0, 1)).solve(0.2, POINT) for t in (near, far)]
    assert x[1][1]["outcome"] == "certified" and np.array_equal(x[0][0], x[1][0])
