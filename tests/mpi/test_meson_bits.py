"""Mesons and baryons have the same bits on every process grid and number of threads."""

from __future__ import annotations

import pytest
from solve_files import solve

pytestmark = pytest.mark.mpi

LATTICE = (8, 4, 8, 8)
MESONS = "all,all-local:p120:EO.O.E,conserved-x,conserved-t:p100,rhoysfn,rhotsbape"
OPTIONS = ("--action", "hisq", "--masses", "0.4,0.7", "--sources", "point:1,0,3,7; u1-wall:7,3@GX-GYT+pion05@p100", "--pairs", "0:0,0:1",
           "--mesons", MESONS, "--baryons", "nucleon,delta", "--tolerance", 1e-8)


@pytest.fixture(scope="module")
def one_rank(staghorn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one_rank")
    gauge = folder / "hot.h5"
    staghorn("generate", "--lattice", *LATTICE, "--start", "hot", "--sweeps", 0, "--seed", 13, "--format", "hdf5", "--output", gauge, check=True)
    report, _ = solve(staghorn, folder, gauge, *OPTIONS, threads=1)
    assert len(report["mesons"]) == 2 * 4 * (256 + 16 + 4)
    assert len(report["baryons"]) == 2 * (8 + 2)
    return gauge, (report["mesons"], report["baryons"])


@pytest.mark.parametrize("ranks, threads, grid", [(1, 2, "1,1,1,1"), (2, 1, "1,1,1,2"), (4, 1, "2,1,2,1")])
def test_mesons_have_the_bits_of_one_rank(staghorn, one_rank, tmp_path, ranks, threads, grid):
    gauge, expected = one_rank
    report, _ = solve(staghorn, tmp_path, gauge, *OPTIONS, "--grid", grid, ranks=ranks, threads=threads)
    assert (report["ranks"], report["threads"]) == (ranks, threads)
    assert (report["mesons"], report["baryons"]) == expected
