"""Guesses from earlier solutions of a session: minimum residual, judged by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS, MASS = (4, 4, 2, 6), 0.1


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=61)


def keep(v, system):
    return v if system == "full" else reference.keep_parity(v, ["even", "odd"].index(system))


@pytest.mark.parametrize("system", ["full", "even", "odd"])
def test_first_residual_is_the_smallest_of_all_combinations(links, system):
    operator = StaggeredOperator(links)
    apply = (lambda x: operator.m(MASS, x)) if system == "full" else (lambda x: operator.a(MASS, x))
    session = staghorn.Session(links)
    first = [keep(reference.random_vector(EXTENTS, seed), system) for seed in (62, 63)]
    earlier = [session.solve(MASS, b, system=system, chronological=3)[0] for b in first]
    b = 0.3 * first[0] - 2j * first[1] + 0.01 * keep(reference.random_vector(EXTENTS, 64), system)
    x, report = session.solve(MASS, b, system=system, chronological=3)
    images = np.array([apply(v).ravel() for v in earlier]).T
    best = b.ravel() - images @ np.linalg.lstsq(images, b.ravel(), rcond=None)[0]
    first_residual = best.reshape(b.shape)
    if system == "full":  # CG sees the even half of it: |2m r_e - D_eo r_o| / 2m
        r_e, r_o = (reference.keep_parity(first_residual, which) for which in (0, 1))
        first_residual = r_e - reference.keep_parity(operator.d(r_o), 0) / (2 * MASS)
    rhs = report["rhs"][0]
    assert rhs["earlier_solutions"] == 2 and report["outcome"] == "certified"
    assert rhs["history"][0] == pytest.approx(np.linalg.norm(first_residual) / np.linalg.norm(b), rel=1e-6)
    alone = staghorn.Session(links).solve(MASS, b, system=system)[1]["rhs"][0]
    assert rhs["iterations"] < alone["iterations"] and alone["earlier_solutions"] == 0


def test_dependent_solutions_are_left_out_and_old_ones_forgotten(links):
    session = staghorn.Session(links)
    b = reference.random_vector(EXTENTS, 65)
    used = [session.solve(MASS, factor * b, chronological=2)[1]["rhs"][0]["earlier_solutions"] for factor in (1, 2, 3, 4)]
    assert used[0] == 0 and used[1] == 1 and all(1 <= n <= 2 for n in used[2:])
    assert session.solve(2 * MASS, b, chronological=2)[1]["rhs"][0]["earlier_solutions"] == 0  # another mass
    assert session.solve(MASS, b)[1]["rhs"][0]["earlier_solutions"] == 0  # not asked for


def test_guesses_have_the_same_bits_on_any_cut(links):
    answers = []
    for loopback in ("", "xt"):
        session = staghorn.Session(links, loopback=loopback)
        for seed in (66, 67, 68):
            answer = session.solve(MASS, reference.random_vector(EXTENTS, seed), chronological=4)
        answers.append((answer[0].tobytes(), answer[1]["rhs"]))
    assert answers[0] == answers[1] and answers[0][1][0]["earlier_solutions"] == 2


@pytest.mark.parametrize("value", [-1, 33])
def test_a_number_of_solutions_that_makes_no_sense_is_refused(links, value):
    with pytest.raises(staghorn.Error, match="chronological: expected a number from 0 to 32"):
        staghorn.Session(links).solve(MASS, "z2:1", chronological=value)
