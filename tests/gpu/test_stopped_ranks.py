"""A rank that stops or dies ends the run on all, however the others wait for it: a kernel for another GPU, or the host."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest
from gpus import transport_obstacle
from running_jobs import ranks_below, wait_until_gone

pytestmark = pytest.mark.gpu

LIMIT = 8  # seconds: others may share the GPUs
SETTING_UP = 10  # seconds, NCCL among it
BENCH_CG = ["bench", "cg", "--lattice", 8, 8, 8, 16, "--precision", "fp64", "--links", 18, "--device", "cuda",
            "--blas", "fused", "--tuning", "off", "--watchdog", LIMIT]
WAYS = {  # transport, STAGHORN_CG_KERNELS, and what the loop runs as
    "p2p, one kernel": ("p2p", "one", "one kernel"),
    "p2p, two kernels": ("p2p", "two", "two kernels"),
    "nccl": ("nccl", "auto", "nccl"),
    "staged": ("staged", "auto", "host"),
    "mapped": ("mapped", "auto", "host"),
}


@pytest.fixture(scope="module")
def form_of(staghorn, tmp_path_factory):
    """form_of(way) -> what the loop of a short run of two ranks ran as; skips where the transport cannot be used."""
    path = tmp_path_factory.mktemp("form") / "bench.json"
    known = {}

    def run(way):
        if way not in known:
            transport, kernels, _ = WAYS[way]
            result = staghorn(*BENCH_CG, "--seconds", 0.1, "--transport", transport, "--json", path, "--force", ranks=2,
                              env={"STAGHORN_CG_KERNELS": kernels})
            if obstacle := transport_obstacle(result.stderr):
                pytest.skip(obstacle)
            assert result.returncode == 0, result.stderr
            (row,) = json.loads(path.read_text())["results"]
            known[way] = row["loop"]
        return known[way]

    return run


@pytest.fixture
def iterations(launch, form_of):
    """iterations(way) -> a job of two ranks in the middle of iterations of CG, and its processes by rank. The iterations have
    the form that the way names."""
    jobs = []

    def start(way):
        transport, kernels, form = WAYS[way]
        assert form_of(way) == form
        job = launch(*BENCH_CG, "--seconds", 1000, "--transport", transport, ranks=2, env={"STAGHORN_CG_KERNELS": kernels})
        jobs.append(job)
        line = job.stdout.readline()
        processes = ranks_below(job.pid)
        time.sleep(SETTING_UP)
        if job.poll() is not None:
            _, stderr = job.communicate()
            if obstacle := transport_obstacle(stderr):
                pytest.skip(obstacle)
            pytest.fail(stderr)
        assert "streaming read" in line  # printed before the first figure is taken
        assert sorted(processes) == [0, 1]
        return job, processes

    yield start
    for job in jobs:
        job.terminate()  # mpirun then ends its ranks
        job.communicate(timeout=180)


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_stops_ends_the_run_on_all(iterations, way):
    job, processes = iterations(way)
    os.kill(processes[1], signal.SIGSTOP)
    _, stderr = job.communicate(timeout=180)
    assert job.returncode == 4, stderr
    assert re.search(r"staghorn: rank 0: no progress for [\d.]+ s during '[^']+'|staghorn: rank 0 had no answer", stderr), stderr
    silent = r"rank 1: does not answer; last seen during '[^']+'|had no answer from rank 1"
    if way == "nccl":  # which does not say whom it waits for
        silent += rf"|NCCL: no answer from another rank for {LIMIT} s"
    assert re.search(silent, stderr), stderr
    wait_until_gone(processes.values())


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_dies_ends_the_run_on_all(iterations, way):
    job, processes = iterations(way)
    os.kill(processes[1], signal.SIGKILL)
    job.communicate(timeout=180)
    assert job.returncode != 0
    wait_until_gone(processes.values())
