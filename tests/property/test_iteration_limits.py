"""What ends a solve that converges slowly, and what is said of one that a limit ends."""

from __future__ import annotations

import re

import numpy as np
import pytest
from staghorn import reference

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 4, 8)

WAYS = {"cg": ({"sloppy": "none"}, {}), "fp32": ({"precision": "fp32"}, {"tolerance": 1e-10}), "mixed": ({"sloppy": "fp32"}, {}),
        "fp16": ({"sloppy": "fp16"}, {}), "block": ({"solver": "block", "sloppy": "none"}, {"noise_vectors": 3}), "batch": ({"sloppy": "none"}, {"batch": 2, "noise_vectors": 3}),
        "mixed-batch": ({"sloppy": "fp32"}, {"batch": 2, "noise_vectors": 3})}


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=51)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_solve_that_a_limit_ends_says_how_many_more_it_would_take(links, way, share):
    options, request = WAYS[way]
    session = staghorn.Session(links, **options)
    mass = 0.2 if way == "block" else 0.02  # a block becomes the faster the nearer it is to all unknowns
    whole = session.solve(mass, "z2:3", **request)[1]
    assert whole["outcome"] == "certified" and whole["max_iterations"] is None
    assert all(rhs["iterations_more"] is None for rhs in whole["rhs"])
    limit = int(share * min(rhs["iterations"] for rhs in whole["rhs"]))
    report = session.solve(mass, "z2:3", max_iterations=limit, **request)[1]
    assert report["outcome"] == "out_of_iterations" and report["max_iterations"] == limit
    for rhs, complete in zip(report["rhs"], whole["rhs"]):
        more = complete["iterations"] - rhs["iterations"]
        assert more / 3 < rhs["iterations_more"] < 3 * more + 20
    said = re.search(r"`max_iterations` (\d+) was the limit. It would take about (\S+) more", report["explanation"])
    assert said and int(said[1]) == limit
    assert float(said[2]) in [pytest.approx(rhs["iterations_more"], rel=0.06) for rhs in report["rhs"]]


def test_each_mass_says_how_many_more_it_would_take(links):
    session = staghorn.Session(links)
    whole = session.solve(None, "z2:3", masses=[0.02, 0.05])[1]
    report = session.solve(None, "z2:3", masses=[0.02, 0.05], max_iterations=whole["rhs"][0]["iterations"] // 2)[1]
    more = whole["rhs"][0]["iterations"] - report["rhs"][0]["iterations"]
    assert more / 3 < report["rhs"][0]["iterations_more"] < 3 * more
    assert "guess" not in report["explanation"]  # several masses start from zero


def test_a_few_iterations_do_not_tell_how_many_more_it_takes(links):
    report = staghorn.Session(links).solve(0.02, "z2:3", max_iterations=4)[1]
    assert report["rhs"][0]["iterations_more"] is None and "too few to say" in report["explanation"]


def test_the_heavy_quark_residual_is_told_where_it_is_what_is_missing():
    session = staghorn.Session(reference.random_links((4, 4, 4, 12), seed=34))
    asked = {"color": 0, "tolerance": 1e-3, "tolerance_hq": 1e-9}
    whole = session.solve(0.5, "point:0,0,0,0", **asked)[1]["rhs"][0]["iterations"]
    report = session.solve(0.5, "point:0,0,0,0", max_iterations=whole - 20, **asked)[1]
    rhs = report["rhs"][0]
    assert rhs["residual_true"] <= 1e-3 and "`tolerance_hq` asked for 1e-09" in report["explanation"]
    assert 5 < rhs["iterations_more"] < 80


@pytest.mark.parametrize("way", ["cg", "mixed", "block", "batch"])
def test_looks_at_the_coefficients_change_no_bit(links, way):
    """A search beyond the first look (512 iterations), with a number that does not matter and without one."""
    options, request = WAYS[way]
    session = staghorn.Session(links, **options)
    found = [session.solve(1e-4, "z2:3", max_iterations=limit, **request) for limit in (None, 10**9, 2**62)]
    assert found[0][1]["outcome"] == "certified" and found[0][1]["rhs"][0]["iterations"] > (512 if way != "block" else 200)
    assert all(np.array_equal(x, found[0][0]) for x, _ in found)


def test_a_light_mass_takes_more_iterations_than_any_number_that_was_the_default():
    """On links of which a few modes are nearly zero, |r| stands for thousands of iterations before it falls."""
    session = staghorn.Session(reference.random_links((6, 6, 6, 6), seed=52))
    report = session.solve(1e-7, "z2:3", system="even")[1]
    assert report["outcome"] == "certified" and report["rhs"][0]["iterations"] > 1000
