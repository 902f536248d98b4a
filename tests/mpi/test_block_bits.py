"""Block CG has the same bits on every process grid and number of threads, with noise in the places of dependent sources."""

from __future__ import annotations

import numpy as np
import pytest
from solve_files import solution_bytes, solve, write_source

pytestmark = pytest.mark.mpi

LATTICE = (8, 8, 4, 8)


@pytest.fixture(scope="module", params=["fp64", "fp64/fp32"])
def one_rank(request, staghorn, tmp_path_factory):
    """Gauge and options, and what one rank with one thread answers."""
    folder = tmp_path_factory.mktemp("one_rank")
    gauge = folder / "hot.h5"
    staghorn("generate", "--lattice", *LATTICE, "--start", "hot", "--sweeps", 0, "--seed", 11, "--format", "hdf5",
             "--output", gauge, check=True)
    random = np.random.default_rng(3)
    vectors = random.standard_normal((5, *reversed(LATTICE), 3)) + 1j * random.standard_normal((5, *reversed(LATTICE), 3))
    vectors[3] = vectors[0] - 1j * vectors[1]
    source = write_source(folder / "source.h5", vectors)
    options = ("--mass", 0.1, "--source", f"file:{source}", "--solver", "block", "--tolerance", 1e-10)
    options += ("--sloppy", "fp32" if request.param == "fp64/fp32" else "none")
    report, _ = solve(staghorn, folder, gauge, *options, threads=1)
    assert report["outcome"] == "certified" and report["loop"] == "block" and report["took_over"] is None
    return gauge, options, report, solution_bytes(folder / "solve.h5")


@pytest.mark.parametrize("ranks, threads, grid, loopback", [(1, 2, "1,1,1,1", "xt"), (2, 1, "2,1,1,1", ""), (4, 1, "1,2,1,2", "")])
def test_block_cg_has_the_bits_of_one_rank(staghorn, one_rank, tmp_path, ranks, threads, grid, loopback):
    gauge, options, expected, expected_bytes = one_rank
    cut = ("--grid", grid) + (("--loopback", loopback) if loopback else ())
    report, _ = solve(staghorn, tmp_path, gauge, *options, *cut, ranks=ranks, threads=threads)
    assert (report["ranks"], report["threads"]) == (ranks, threads)
    assert [r["history"] for r in report["rhs"]] == [r["history"] for r in expected["rhs"]]
    assert solution_bytes(tmp_path / "solve.h5") == expected_bytes
