"""The table of times on GPUs: measured where faces pass through the host, said to be inside the kernels where they do not."""

from __future__ import annotations

import json

import pytest
from gpus import transport_obstacle

pytestmark = [pytest.mark.gpu, pytest.mark.alone]

HOPS = ["--mass", 0.05, "--tolerance", 1e-10, "--source", "gaussian:5", "--noise-vectors", 4]


@pytest.fixture
def times(staghorn, small_gauge, tmp_path):
    """times(*options, ranks) -> the rows by phase, and the whole report."""

    def run(*options, ranks=1):
        path = tmp_path / "report.json"
        staghorn("solve", "--gauge", small_gauge, *HOPS, *options, "--report", path, "--force", ranks=ranks, check=True)
        report = json.loads(path.read_text())
        return {row["phase"]: row for row in report["times"]}, report

    return run


def check_that_phases_make_up_the_solve(rows, report):
    """What is not hidden of computing, packing, communication and sums follows one another and fills the solve. One hop in 15 is
    measured and stands for the others, so there is room."""
    compute, communication = rows["compute"]["seconds"], rows["communication"]["seconds"]
    hidden = rows["communication"]["hidden_share"] * min(compute, communication)
    filled = compute + rows["gather"]["seconds"] + communication - hidden + rows["sums"]["seconds"]
    assert 0.3 * report["seconds"]["solve"] < filled < 1.5 * report["seconds"]["solve"]


@pytest.mark.parametrize("sloppy", [[], ["--sloppy", "fp32"]])
@pytest.mark.parametrize("transport, within", [("staged", {}), ("mapped", {"DtoH": "within gather"})])
def test_phases_are_measured_where_faces_pass_through_the_host(times, transport, within, sloppy):
    rows, report = times("--device", "cuda:0", "--transport", transport, *sloppy, ranks=2)
    assert report["times_of_one_hop_in"] > 1
    for phase in ("compute", "gather", "DtoH", "MPI", "HtoD", "sums", "communication"):
        row = rows[phase]
        if phase in within:
            assert row["seconds"] is None and row["note"] == within[phase]
            continue
        assert row["seconds"] > 0
        assert phase == "compute" or 0 <= row["hidden_share"] <= 1
    check_that_phases_make_up_the_solve(rows, report)
    for phase in ("DtoH", "MPI", "HtoD"):  # each is part of it
        assert (rows[phase]["seconds"] or 0) < 1.1 * rows["communication"]["seconds"]
    assert rows["scatter"]["seconds"] == 0 and rows["scatter"]["note"] == "ghosts are read in place"


def test_nothing_is_hidden_without_overlap(times):
    rows, _ = times("--device", "cuda:0", "--transport", "staged", "--overlap", "off", ranks=2)
    assert rows["communication"]["hidden_share"] < 0.05


def check_that_kernels_do_everything(rows, report):
    assert rows["compute"]["seconds"] == pytest.approx(report["seconds"]["solve"], rel=0.1)
    assert rows["scatter"]["seconds"] == 0
    for phase in ("gather", "DtoH", "MPI", "HtoD", "sums", "communication"):
        row = rows[phase]
        assert (row["seconds"], row["hidden_share"], row["note"]) == (None, None, "within the kernels")


def test_kernels_that_store_faces_do_everything_on_one_gpu(times):
    check_that_kernels_do_everything(*times("--device", "cuda", "--loopback", "xt"))


def test_kernels_that_store_faces_do_everything_by_p2p(times, staghorn, small_gauge):
    result = staghorn("solve", "--gauge", small_gauge, *HOPS, "--device", "cuda", "--transport", "p2p", ranks=2)
    if result.returncode != 0 and (obstacle := transport_obstacle(result.stderr)):
        pytest.skip(obstacle)
    check_that_kernels_do_everything(*times("--device", "cuda", "--transport", "p2p", ranks=2))


def test_a_solve_by_nccl_is_not_told_apart(times, staghorn, small_gauge):
    result = staghorn("solve", "--gauge", small_gauge, *HOPS, "--device", "cuda", "--transport", "nccl", ranks=2)
    if result.returncode != 0 and (obstacle := transport_obstacle(result.stderr)):
        pytest.skip(obstacle)
    rows, report = times("--device", "cuda", "--transport", "nccl", ranks=2)
    assert rows["compute"]["seconds"] == pytest.approx(report["seconds"]["solve"], rel=0.1)
    assert rows["MPI"]["seconds"] is None and rows["MPI"]["note"] == "queued with the kernels"
