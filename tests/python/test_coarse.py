"""A basis of blocks from Python and C: found in memory, it serves the solves of its gauge until the links change; the file is that
of the program."""

from __future__ import annotations

import numpy as np
import pytest

staghorn_python = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")
import staghorn as package  # noqa: E402


@pytest.fixture(scope="module")
def rough(rough_gauge):
    context = package.Context(rough_gauge, device="cpu")
    return context, context.read(rough_gauge)


def source(context):
    x, y, z, t = context.local
    numbers = np.random.default_rng(3)
    return numbers.normal(size=(t, z, y, x, 3)) + 1j * numbers.normal(size=(t, z, y, x, 3))


def test_blocks_found_in_memory_serve_all_masses_until_the_links_change(rough, tmp_path):
    context, gauge = rough
    b = source(context)
    found = gauge.find_coarse(6, block=(4, 6, 4, 10), iterations=40, output=tmp_path / "c.h5")
    assert found["coarse"]["vectors"] == 6 and found["coarse"]["block"] == [4, 6, 4, 10] and found["calls"] == 240
    for mass in (0.05, 0.5):
        x, report = gauge.solve(mass, b, tolerance=1e-8)
        assert report["solver"] == "multigrid" and report["outcome"] == "certified" and report["coarse"]["file"] == ""
    plain, without = gauge.solve(0.5, b, tolerance=1e-8, solver="cg", sloppy=None)
    assert without["solver"] == "cg" and without["coarse"] is None
    assert np.linalg.norm(plain - x) <= 1e-6 * np.linalg.norm(plain)
    again = context.read(context_gauge(found), coarse=tmp_path / "c.h5")
    _, from_file = again.solve(0.5, b, tolerance=1e-8, solver="deflated")
    assert from_file["solver"] == "deflated" and from_file["coarse"]["block"] == [4, 6, 4, 10]


def context_gauge(report):
    return report["gauge"]["file"]


def test_arguments_that_make_no_basis_are_refused(rough):
    _, gauge = rough
    for arguments, words in [({"vectors": 0}, "vectors: expected a number from 1"), ({"block": (3, 6, 4, 10)}, "block: expected even extents"),
                             ({"iterations": 0}, "iterations: expected"), ({"vectors": 25, "block": (2, 2, 2, 2)}, "vectors: expected at most 24")]:
        with pytest.raises(package.Error, match=words):
            gauge.find_coarse(**{"vectors": 4, **arguments})
