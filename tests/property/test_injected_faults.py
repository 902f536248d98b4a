"""A bit that changes in the middle of a solve is noticed or harmless: no wrong answer is certified, and `recover` goes on to
a right one. The NumPy operator judges."""

from __future__ import annotations

import os

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 4, 4, 8)
MASS, TOLERANCE = 0.1, 1e-9
KINDS = {"fp64": {"sloppy": "none"}, "mixed": {"sloppy": "fp32"}, "mixed-fp16": {"sloppy": "fp16", "links": 12},
         "block": {"solver": "block", "sloppy": "none"}, "block-mixed": {"solver": "block", "sloppy": "fp32"}}
FLIPS = int(os.environ.get("STAGHORN_TEST_FLIPS", "6"))  # of each kind and place


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=51)


@pytest.fixture(scope="module")
def b():
    return reference.random_vector(EXTENTS, 52)


def session_of(links, kind, **options):
    """With faces in t, so that there are ghosts."""
    return staghorn.Session(links, order="lex", loopback="t", **KINDS[kind], **options)


@pytest.fixture(scope="module", params=KINDS)
def session(request, links):
    session = session_of(links, request.param)
    session.kind = request.param
    return session


@pytest.fixture(scope="module")
def unharmed(session, b):
    return session.solve(MASS, b, tolerance=TOLERANCE)


PLACES = [(kind, what) for kind in KINDS for what in ("link", "vector", "halo", "sum") if not (kind.startswith("block") and what == "sum")]


@pytest.mark.parametrize("session, what", PLACES, indirect=["session"])
def test_a_changed_bit_is_noticed_or_harmless(session, links, b, unharmed, what):
    m = lambda x: StaggeredOperator(session.links).m(MASS, x)
    seen = {"certified": 0, "noticed": 0, "recovered": 0, "other bits": 0}
    calls = 2 * (unharmed[1]["rhs"][0]["iterations"] - 2)  # at least, for each iteration has two hops
    for seed in range(FLIPS):
        where = f"{what}:{1 + seed * 37 % calls}:{1000 + seed}"
        for recover in (False, True):
            faulty = session_of(links, session.kind, inject=where)
            x, report = faulty.solve(MASS, b, tolerance=TOLERANCE, recover=recover, max_iterations=20000)
            faults, rhs = report["faults"], report["rhs"][0]
            assert faults["injected"] == [where] and report["loop"] == unharmed[1]["loop"]
            if report["outcome"] == "certified":
                assert relative_difference(m(x), b) <= 1.001 * TOLERANCE, where
                assert rhs["residual_true"] <= TOLERANCE
            assert not recover or report["outcome"] == "certified", (where, report["explanation"], faults)
            if recover:
                seen["recovered"] += faults["recovered"]
                seen["other bits"] += x.tobytes() != unharmed[0].tobytes()
            else:
                seen["certified"] += report["outcome"] == "certified"
                seen["noticed"] += faults["noticed"] > 0
    print(what, FLIPS, seen)
    assert seen["other bits"] > 0, "the changed bits were read by nothing"


def test_recover_changes_nothing_where_nothing_happens(session, b, unharmed):
    x, report = session.solve(MASS, b, tolerance=TOLERANCE, recover=True)
    assert x.tobytes() == unharmed[0].tobytes() and report["rhs"] == unharmed[1]["rhs"]
    assert report["faults"] == {"injected": [], "noticed": 0, "recovered": 0}


def test_recover_goes_back_from_a_solution_that_is_lost(links, b):
    """Vectors with a changed exponent, one after the other, until one makes the solution worse than none: found by trying seeds.
    From no solution the second pass is the unharmed first one."""
    unharmed, _ = staghorn.Session(links, order="lex").solve(MASS, b, tolerance=TOLERANCE)
    for seed in range(400):
        where = f"vector:20:{seed}"
        _, without = staghorn.Session(links, order="lex", inject=where).solve(MASS, b, tolerance=TOLERANCE, max_iterations=3000)
        lost = not without["rhs"][0]["residual_true"] <= 1
        if lost and without["outcome"] in ("stagnated", "breakdown"):
            break
    assert lost and without["faults"]["noticed"] > 0
    session = staghorn.Session(links, order="lex", inject=where)
    x, report = session.solve(MASS, b, tolerance=TOLERANCE, recover=True, max_iterations=6000)
    assert report["outcome"] == "certified" and report["faults"]["recovered"] == 1
    assert x.tobytes() == unharmed.tobytes()


def test_a_fault_without_its_place_does_not_happen(links, b):
    """The sums of block CG are Gram matrices, no sums of a kernel: the report says that nothing happened. Nor are there ghosts
    without a face."""
    for options in ({"solver": "block", "sloppy": "none", "inject": "sum:3"}, {"inject": "halo:3"}):
        _, report = staghorn.Session(links, order="lex", **options).solve(MASS, b, tolerance=TOLERANCE)
        assert report["faults"]["injected"] == [] and report["outcome"] == "certified"


@pytest.mark.parametrize("text, words", [("vector", "as vector:40"), ("face:3", "link, vector, halo or sum"), ("sum:x", "whole number"),
                                         ("link:3:4,sum", "as vector:40")])
def test_faults_that_are_none_are_refused(links, text, words):
    with pytest.raises(staghorn.Error, match=words) as raised:
        staghorn.Session(links, order="lex", inject=text)
    assert str(raised.value).startswith("inject: expected")
