"""Transports are tested and timed before they are trusted; what fails its test is left out and named."""

from __future__ import annotations

import json

import pytest
from solve_files import solve

pytestmark = pytest.mark.mpi

REQUEST = ["--mass", 0.3, "--tolerance", 1e-6]


def test_report_says_which_transport_and_why(staghorn, small_gauge, tmp_path):
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, ranks=4, threads=1)
    found = report["transports"]
    assert (report["transport"], found["chosen"], found["reason"]) == ("mpi", "mpi", "the only one")
    (trial,) = found["tried"]
    assert trial["name"] == "mpi" and not trial["failed"] and trial["left_out"] is None
    assert trial["seconds"] > 0 and found["test_seconds"] > 0


def test_faces_of_the_real_sizes_are_sent(staghorn, small_gauge, tmp_path):
    """Vectors of one parity, 6 reals a site; z and x are cut, two faces each. Lanes may pad a face."""
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, "--grid", "2,1,2,1", "--source", "z2:1",
                      "--noise-vectors", 2, "--sloppy", "fp32", ranks=4)
    sites = 2 * (6 * 4 * 10 + 2 * 6 * 10) // 2
    fast, sloppy = report["transports"], report["sloppy_transports"]
    assert 2 * 6 * 8 * sites <= fast["face_bytes"] <= 1.2 * 2 * 6 * 8 * sites
    assert 2 * 6 * 4 * sites <= sloppy["face_bytes"] <= 1.2 * 2 * 6 * 4 * sites


def test_summary_and_benchmark_tell_the_transport(staghorn, small_gauge, tmp_path):
    result = staghorn("solve", "--gauge", small_gauge, *REQUEST, ranks=2, check=True)
    assert "transport mpi, the only one: " in result.stdout
    figures = tmp_path / "bench.json"
    result = staghorn("bench", "hop", "--lattice", 4, 4, 4, 8, "--seconds", 0.05, "--stream-mib", 32, "--json", figures, ranks=2, check=True)
    assert "transport mpi, the only one: " in result.stdout
    assert {row["transport"] for row in json.loads(figures.read_text())["results"]} == {"mpi"}


def test_one_rank_needs_no_transport(staghorn, small_gauge, tmp_path):
    report, _ = solve(staghorn, tmp_path, small_gauge, *REQUEST, "--loopback", "t")
    assert report["transport"] == "self"
    assert report["transports"]["tried"] == [] and report["transports"]["reason"] == "no face leaves its rank"


@pytest.mark.parametrize("wanted", ["auto", "mpi"])
def test_a_transport_that_delivers_wrong_bytes_is_refused(staghorn, small_gauge, wanted):
    result = staghorn("solve", "--gauge", small_gauge, *REQUEST, "--transport", wanted, ranks=4,
                      env={"STAGHORN_CORRUPT_TRANSPORT": "mpi"})
    assert result.returncode == 1
    assert "mpi failed its test: face" in result.stderr and "from rank 0" in result.stderr
    assert result.stderr.count("staghorn: error") == 1


def test_an_unknown_transport_is_refused(staghorn, small_gauge):
    result = staghorn("solve", "--gauge", small_gauge, *REQUEST, "--transport", "pigeon", ranks=2)
    assert result.returncode == 2 and "mpi" in result.stderr and "pigeon" in result.stderr
