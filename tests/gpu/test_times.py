"""The table of times on GPUs: measured where faces pass through the host, said to be inside the kernels where they do not."""

from __future__ import annotations

import json

import pytest
from gpus import transport_obstacle

pytestmark = pytest.mark.gpu

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


@pytest.mark.parametrize("sloppy", [["--sloppy", "none"], ["--sloppy", "fp32"]])
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
    assert rows["scatter"]["seconds"] == 0 and rows["scatter"]["note"] == "ghosts are read in place"


def check_that_kernels_do_everything(rows, report):
    assert rows["compute"]["note"] == "everything: the kernels store faces themselves" and rows["compute"]["seconds"] > 0
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
    rows, _ = times("--device", "cuda", "--transport", "nccl", ranks=2)
    assert rows["compute"]["note"] == "everything" and rows["compute"]["seconds"] > 0
    assert rows["MPI"]["seconds"] is None and rows["MPI"]["note"] == "queued with the kernels"
