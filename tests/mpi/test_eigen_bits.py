"""Files of eigenpairs and the course of the search have the same bits on any ranks, grid and threads."""

from __future__ import annotations

import json

import pytest

SAME = ["eigenvalues", "residuals", "calls", "range_calls", "filtered_vectors", "restarts", "block", "polynomial", "largest_eigenvalue",
        "certificate", "probe", "outcome"]


@pytest.fixture
def search(staghorn, rough_gauge, tmp_path):
    """search(*options, ranks=, threads=) -> what must not depend on them: of the report, and the file of eigenpairs."""

    def run(*options, **how):
        report, output = tmp_path / "e.json", tmp_path / "e.h5"
        staghorn("eigen", "--gauge", rough_gauge, *options, "--report", report, "--output", output,
                 "--force", env={"SOURCE_DATE_EPOCH": "1700000000"}, check=True, **how)
        found = json.loads(report.read_text())
        assert found["ranks"] == how.get("ranks", 1) and found["outcome"] == "certified"
        return {"file": output.read_bytes(), **{name: found[name] for name in SAME}}

    return run


@pytest.mark.mpi
def test_pairs_have_the_bits_of_one_rank(search):
    few = ["--pairs", 20]
    expected = search(*few)
    assert expected["restarts"] > 0 and expected["block"] == 1
    assert search(*few, threads=2) == expected
    assert search(*few, "--loopback", "yz") == expected
    assert search(*few, ranks=2) == expected
    assert search(*few, "--grid", "2,1,4,1", ranks=8) == expected


@pytest.mark.mpi
def test_pairs_found_in_blocks_have_the_bits_of_one_rank(search):
    expected = search("--pairs", 130)
    assert expected["restarts"] > 0 and expected["block"] == 2
    assert search("--pairs", 130, "--loopback", "y", threads=2) == expected
    assert search("--pairs", 130, "--grid", "1,1,2,1", ranks=2) == expected


@pytest.mark.mpi
def test_pairs_found_in_fp32_have_the_bits_of_one_rank(search):
    these = ["--pairs", 20, "--precision", "fp32", "--tolerance", 1e-6]
    assert search(*these, "--grid", "1,2,2,1", ranks=4) == search(*these)


def test_pairs_of_one_rank_depend_on_the_seed_in_their_last_bits_alone(search):
    one, other = search("--pairs", 20), search("--pairs", 20, "--seed", 2)
    assert one["file"] != other["file"]
    assert one["eigenvalues"] == pytest.approx(other["eigenvalues"], rel=1e-12)
