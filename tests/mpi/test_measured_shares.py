"""`shares auto`: slabs by measurement. Slowed ranks get less or are left out, no bit changes, the report says what was found.

STAGHORN_ITERATION_TIMES stands in the place of the clock, so that no choice depends on what else this machine does.
"""

from __future__ import annotations

import json

import pytest
from solve_files import solution_bytes

pytestmark = pytest.mark.mpi

SITE, FACE = 100, 40  # nanoseconds of an iteration, for each site of a rank's part and of its faces
TIMES = {"STAGHORN_ITERATION_TIMES": f"5000,{SITE},{FACE}"}
SOLVE = ["--mass", 0.3, "--source", "z2:5", "--tolerance", 1e-8, "--quiet"]


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("shares") / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 12, "--format", "hdf5",
             "--precision", "fp64", "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def solve(staghorn, gauge, tmp_path_factory):
    """solve(ranks, *options) -> (report, path of the solution)"""
    folder, count = tmp_path_factory.mktemp("solves"), iter(range(100))

    def run(ranks, *options, env=TIMES):
        name = folder / str(next(count))
        staghorn("solve", "--gauge", gauge, *SOLVE, *options, "--output", f"{name}.h5", "--report", f"{name}.json", ranks=ranks,
                 env=env, check=True)
        return json.loads(name.with_suffix(".json").read_text()), name.with_suffix(".h5")

    return run


@pytest.fixture(scope="module")
def one_rank(solve):
    return solve(1)


def test_a_slowed_rank_gets_less_and_no_bit_changes(solve, one_rank):
    report, solution = solve(2, "--shares", "auto", "--slow-device", "1:20", "--grid", "1,1,1,2")
    assert report["widths"][3] == [14, 2]
    found = report["shares"]
    assert found["left_out"] == [] and found["measured_microseconds"] < found["even_microseconds"]  # of the given times
    assert [kind["device"].endswith(", slowed 20") for kind in found["kinds"]] == [False, True]
    assert [kind["share"] for kind in found["kinds"]] == pytest.approx([14 / 16, 2 / 16])
    assert report["slow_device"] == "1:20"
    assert solution_bytes(solution) == solution_bytes(one_rank[1]) and report["rhs"] == one_rank[0]["rhs"]


def test_slabs_that_the_clock_chooses_have_the_bits_of_one_rank(solve, one_rank):
    """Measured indeed; which slabs are the best is not asked here."""
    report, solution = solve(2, "--shares", "auto", "--slow-device", "1:4", env=None)
    assert report["shares"]["measured_microseconds"] > 0 and report["shares"]["even_microseconds"] > 0
    assert [sum(widths) for widths in report["widths"]] == [8, 8, 8, 16]
    assert solution_bytes(solution) == solution_bytes(one_rank[1]) and report["rhs"] == one_rank[0]["rhs"]


def test_a_rank_that_only_loses_is_left_out(solve, one_rank):
    report, solution = solve(2, "--shares", "auto", "--slow-device", "1:60")
    assert report["ranks"] == 1 and report["shares"]["left_out"] == [1]
    found = report["shares"]
    assert found["of_fewer_measured"] and found["of_fewer_microseconds"] == found["measured_microseconds"]
    assert found["of_all_microseconds"] > found["measured_microseconds"]
    assert [(kind["ranks"], kind["left_out"]) for kind in report["shares"]["kinds"]] == [(1, 0), (0, 1)]
    assert solution_bytes(solution) == solution_bytes(one_rank[1])


def test_an_error_with_a_rank_left_out_is_one_message(staghorn, gauge, tmp_path):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.3, "--quiet", "--shares", "auto", "--slow-device", "1:60", "--source",
                      f"file:{tmp_path / 'absent.h5'}", ranks=2, env=TIMES)
    assert result.returncode == 1
    assert result.stderr.count("staghorn: error:") == 1 and "absent.h5" in result.stderr


def test_eigenpairs_with_shares_by_measurement(staghorn, tmp_path):
    """Two ranks, one of them slowed to half its speed, have the eigenvalues of one."""
    gauge = tmp_path / "small.h5"
    staghorn("generate", "--lattice", 4, 4, 4, 8, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 3, "--format", "hdf5",
             "--output", gauge, check=True)
    reports = []
    for ranks, options in ((1, []), (2, ["--shares", "auto", "--slow-device", "0:2"])):
        staghorn("eigen", "--gauge", gauge, "--pairs", 2, "--quiet", *options, "--report", tmp_path / f"{ranks}.json", ranks=ranks,
                 env=TIMES, check=True)
        reports.append(json.loads((tmp_path / f"{ranks}.json").read_text()))
    alone, shared = reports
    assert alone["shares"] is None and shared["shares"]["kinds"]
    assert [sum(widths) for widths in shared["widths"]] == [4, 4, 4, 8]
    assert shared["eigenvalues"] == alone["eigenvalues"]


BAD = [
    (["--slow-device", "2:3"], 1, "--slow-device: expected ranks below 2, found rank 2"),
    (["--slow-device", "1:0.5"], 2, "--slow-device: expected none, or ranks"),
    (["--shares", "automatic"], 2, "--shares: expected even, auto, or numbers"),
]


@pytest.mark.parametrize("options, status, message", BAD, ids=[" ".join(options) for options, _, _ in BAD])
def test_bad_options_are_refused_by_name(staghorn, gauge, options, status, message):
    result = staghorn("solve", "--gauge", gauge, *SOLVE, *options, ranks=2)
    assert result.returncode == status and message in result.stderr, result.stderr


def test_times_that_are_none_are_refused_by_name(staghorn, gauge):
    result = staghorn("solve", "--gauge", gauge, *SOLVE, "--shares", "auto", ranks=2, env={"STAGHORN_ITERATION_TIMES": "5000,100"})
    assert result.returncode == 1 and "STAGHORN_ITERATION_TIMES: expected FIXED,SITE,FACE in nanoseconds, found '5000,100'" in result.stderr


def test_auto_is_the_best_share(staghorn, tmp_path):
    """Rank 1 takes three times as long for the same part: of all slabs of even widths none is faster than those chosen, and each is
    as fast as the given times say."""
    report = tmp_path / "shares.json"
    staghorn("bench", "shares", "--lattice", 4, 4, 8, 32, "--slow-device", "1:3", "--precision", "fp32", "--links", 12, "--grid", "1,1,1,2",
             "--stream-mib", 16, "--json", report, ranks=2, env=TIMES, check=True)
    shares = json.loads(report.read_text())["shares"]
    assert shares["left_out"] == [] and shares["slower_ranks"] == [1]
    assert [row["widths"][3] for row in shares["rows"]] == [[32 - width, width] for width in range(2, 32, 2)]

    def microseconds(widths):
        faces = 2 * 4 * 4 * 8  # a cut in t: both sides
        return max(slow * (5 + (SITE * 4 * 4 * 8 * width + FACE * faces) * 1e-3) for slow, width in zip((1, 3), widths))

    for row in (*shares["rows"], shares["even"], shares["chosen"]):
        assert row["microseconds"] == pytest.approx(microseconds(row["widths"][3]))
        assert row["predicted_microseconds"] == pytest.approx(row["microseconds"])
    best = min(shares["rows"], key=lambda row: microseconds(row["widths"][3]))
    assert shares["chosen"]["widths"] == best["widths"] == [[4], [4], [8], [26, 6]] and shares["chosen"]["share"] == 6 / 32
