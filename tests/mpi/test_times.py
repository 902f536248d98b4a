"""The table of times: every phase of the hops, and how much of it was hidden behind computing."""

from __future__ import annotations

import json

import pytest
from solve_files import solve

pytestmark = pytest.mark.mpi

PHASES = ["compute", "gather", "DtoH", "MPI", "HtoD", "scatter", "sums", "communication"]
REQUEST = ["--mass", 0.1, "--tolerance", 1e-8]


def by_phase(table):
    assert [row["phase"] for row in table] == PHASES
    for row in table:
        assert (row["hidden_share"] is None) or 0 <= row["hidden_share"] <= 1
        assert (row["seconds"] is None) or 0 <= row["seconds"] <= row["slowest"] * (1 + 1e-12)
    return {row["phase"]: row for row in table}


@pytest.mark.parametrize("options", [["--sloppy", "none"], ["--sloppy", "fp32"], ["--grid", "1,1,2,1", "--loopback", "x"]])
def test_every_phase_of_a_cpu_is_measured(staghorn, small_gauge, tmp_path, options):
    """Copies do not exist on a CPU, ghosts are read in place."""
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, *options, ranks=2)
    times = by_phase(report["times"])
    assert report["times_of_one_hop_in"] == 1
    for phase in ("compute", "gather", "MPI", "sums", "communication"):
        assert times[phase]["seconds"] > 0
    for phase in ("DtoH", "HtoD", "scatter"):
        assert times[phase]["seconds"] == 0 and times[phase]["note"]
    assert times["gather"]["hidden_share"] == times["sums"]["hidden_share"] == 0


@pytest.mark.parametrize("overlap", ["on", "off"])
def test_messages_travel_beside_the_interior_only_with_overlap(staghorn, small_gauge, tmp_path, overlap):
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, "--overlap", overlap, ranks=2)
    assert ("between parts of the interior" in by_phase(report["times"])["MPI"]["note"]) == (overlap == "on")


def test_a_rank_alone_has_no_table_and_one_that_loops_back_copies(staghorn, small_gauge, tmp_path):
    assert solve(staghorn, tmp_path, small_gauge, *REQUEST)[0]["times"] == []
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, "--loopback", "z")
    times = by_phase(report["times"])
    assert times["MPI"]["note"] == "copies within the rank"


def test_summary_and_benchmark_print_the_table(staghorn, small_gauge, tmp_path):
    result = staghorn("solve", "--gauge", small_gauge, *REQUEST, ranks=2, check=True)
    printed = result.stdout[result.stdout.index("where the time went"):].splitlines()[1:9]
    assert [line.split()[0] for line in printed] == PHASES

    path = tmp_path / "bench.json"
    result = staghorn("bench", "exchange", "--lattice", 4, 4, 4, 8, "--seconds", 0.05, "--precision", "fp64", "--links",
                      18, "--stream-mib", 32, "--json", path, ranks=2, check=True)
    rows = {row["what"]: row for row in json.loads(path.read_text())["results"]}
    for name in ("hop", "hop, no overlap"):
        times = by_phase(rows[name]["times"])
        assert times["compute"]["seconds"] > 0 and times["communication"]["seconds"] > 0
    assert all(phase in result.stdout for phase in PHASES)
    notes = [by_phase(rows[name]["times"])["MPI"]["note"] for name in ("hop", "hop, no overlap")]
    assert ["between parts of the interior" in note for note in notes] == [True, False]
