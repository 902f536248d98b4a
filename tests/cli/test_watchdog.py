"""A run in which nothing happens any more ends with exit status 4 and says where each rank was; a slow one goes on."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from launcher import launcher_of
from running_jobs import ranks_below, wait_until_gone

pytestmark = pytest.mark.mpi

LIMIT = 3  # seconds; setting up a run takes less on a busy machine
LONG_RUN = ["bench", "exchange", "--lattice", 4, 6, 8, 8, "--seconds", 1000, "--stream-mib", 32, "--precision", "fp64", "--links", 18]


@pytest.fixture
def long_run(launch):
    """long_run(ranks, *options, env=None) -> a running job that computes, and its processes by rank."""
    jobs = []

    def start(ranks, *options, env=None):
        job = launch(*LONG_RUN, *options, ranks=ranks, env=env)
        jobs.append(job)
        assert "streaming read" in job.stdout.readline()  # printed before the first figure is taken
        processes = ranks_below(job.pid)
        assert sorted(processes) == list(range(ranks))
        return job, processes

    yield start
    for job in jobs:
        job.terminate()  # mpirun then ends its ranks
        job.communicate(timeout=180)


@pytest.mark.parametrize("limit", [{"options": ["--watchdog", LIMIT]}, {"env": {"STAGHORN_WATCHDOG": str(LIMIT)}}],
                         ids=["option", "environment"])
def test_a_rank_that_stops_ends_the_run_on_all(long_run, limit):
    there = set(Path("/dev/shm").glob("staghorn-watchdog-*"))  # of other jobs, and of jobs that were killed
    job, processes = long_run(3, *limit.get("options", []), env=limit.get("env"))
    os.kill(processes[1], signal.SIGSTOP)
    _, stderr = job.communicate(timeout=180)
    assert job.returncode in (4, *launcher_of().ended), stderr
    for rank in (0, 2):
        assert re.search(rf"staghorn: rank {rank}: no progress for [\d.]+ s during '[^']+'", stderr), stderr
    assert re.search(r"staghorn: rank 1: does not answer; last seen during '[^']+'", stderr), stderr
    wait_until_gone(processes.values())
    assert set(Path("/dev/shm").glob("staghorn-watchdog-*")) <= there


def test_a_rank_that_dies_ends_the_run_on_all(long_run):
    job, processes = long_run(3)
    os.kill(processes[2], signal.SIGKILL)
    job.communicate(timeout=180)
    assert job.returncode != 0
    wait_until_gone(processes.values())


def test_a_rank_that_pauses_for_less_than_the_limit_is_waited_for(long_run):
    job, processes = long_run(2, "--watchdog", 2 * LIMIT)
    for _ in range(6):  # together longer than the limit
        os.kill(processes[1], signal.SIGSTOP)
        time.sleep(1.2)
        os.kill(processes[1], signal.SIGCONT)
        time.sleep(0.5)
    assert job.poll() is None


def test_a_suspended_job_goes_on_where_it_was(long_run):
    job, processes = long_run(2, "--watchdog", LIMIT)
    for process in processes.values():
        os.kill(process, signal.SIGSTOP)
    time.sleep(2 * LIMIT)
    for process in processes.values():
        os.kill(process, signal.SIGCONT)
    time.sleep(LIMIT)
    assert job.poll() is None


def test_a_limit_of_zero_is_none(long_run):
    job, processes = long_run(2, "--watchdog", 0, env={"STAGHORN_WATCHDOG": "1"})
    os.kill(processes[1], signal.SIGSTOP)
    time.sleep(3)
    assert job.poll() is None
    os.kill(processes[1], signal.SIGCONT)


@pytest.mark.parametrize("options, env, words", [
    (["--watchdog", -1], {}, "--watchdog"),
    ([], {"STAGHORN_WATCHDOG": "soon"}, "STAGHORN_WATCHDOG"),
])
def test_a_limit_that_is_no_time_is_refused(staghorn, options, env, words):
    result = staghorn(*LONG_RUN, *options, env=env)
    assert result.returncode == 2 and words in result.stderr
