"""Smoothed and gauge-fixed links, and what is measured on them, have the same bits on every process grid and number of threads."""

from __future__ import annotations

import json

import h5py
import pytest

pytestmark = pytest.mark.mpi

METHODS = {"wilson": ("--time", 0.06, "--step", 0.03), "symanzik": ("--time", 0.06, "--step", 0.03), "ape": ("--steps", 2), "stout": ("--space-only",), "hyp": (),
           "coulomb": ("--tolerance", 0.3), "landau": ("--tolerance", 0.3)}


def smoothed(staghorn, folder, gauge, method, *options, **how):
    """(links as bytes, report) of `staghorn smooth`."""
    staghorn("smooth", "--gauge", gauge, "--method", method, *METHODS[method], "--loops", "2x2", *options, "--output", folder / f"{method}.h5", "--report",
             folder / f"{method}.json", "--quiet", check=True, **how)
    with h5py.File(folder / f"{method}.h5") as file:
        return file["links"][...].tobytes(), json.loads((folder / f"{method}.json").read_text())


@pytest.fixture(scope="module")
def one_rank(staghorn, small_gauge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one_rank")
    return {method: smoothed(staghorn, folder, small_gauge, method, threads=1) for method in METHODS}


# Two directions that are cut have corners; 10 sites in 4 parts are parts of unequal widths, of two sites too.
@pytest.mark.parametrize("method, ranks, threads, grid", [
    *[(method, 1, 2, "1,1,1,1") for method in ("wilson", "hyp", "landau")],
    *[(method, 2, 1, "1,1,1,2") for method in METHODS],
    *[(method, 4, 1, "2,2,1,1") for method in METHODS],
    *[(method, 4, 1, "1,1,1,4") for method in ("symanzik", "hyp")]])
def test_bits_are_those_of_one_rank(staghorn, small_gauge, one_rank, tmp_path, method, ranks, threads, grid):
    links, report = smoothed(staghorn, tmp_path, small_gauge, method, "--grid", grid, ranks=ranks, threads=threads)
    expected, alone = one_rank[method]
    assert (report["ranks"], report["threads"]) == (ranks, threads)
    assert links == expected
    for key in ("before", "after", "flow", "gauge_fixing", "wilson_loops"):
        assert report[key] == alone[key]
    assert report["before"] != report["after"] and len(report["wilson_loops"]) == 4
