"""A host that dies, or whose link is cut, in the midst of a solve: all processes end, and the answer is whole elsewhere."""

from __future__ import annotations

import re
import shutil

import pytest
from running_jobs import wait_until

pytestmark = pytest.mark.mpi

LIMIT = 8  # seconds of the watchdog; launchers hear of a lost host before (conftest.py)
SOLVE = ["solve", "--gauge", "rough.h5", "--mass", "0.05", "--source", "z2:1", "--output", "x.h5", "--watchdog", LIMIT, "--checkpoint", "x.state",
         "--checkpoint-every", "0", "--resume"]
RANKS = {"h1": 1, "h2": 2}


@pytest.fixture
def job(hosts, rough_gauge):
    """One that solves, and has written a state."""
    shutil.copy(rough_gauge, hosts.shared / "rough.h5")
    for path in hosts.shared.glob("x.*"):
        path.unlink()
    started = hosts.start(RANKS, *SOLVE, env={"STAGHORN_STRESS_DELAYS": "5000,1"})
    wait_until(lambda: (hosts.shared / "x.state").exists() or started.poll() is not None)
    assert started.poll() is None, started.communicate()
    yield started
    hosts.link("h2", "up")


def test_a_link_that_is_cut_ends_the_job_on_both_hosts(hosts, job):
    ranks = {host: hosts.ranks(host) for host in RANKS}
    assert {host: len(found) for host, found in ranks.items()} == RANKS
    hosts.link("h2", "down")
    _, stderr = job.communicate(timeout=300)  # the launcher ends
    assert job.returncode != 0
    assert re.search(r"lost communication with a remote daemon|no progress for|HYD|Abort", stderr), stderr
    wait_until(lambda: not hosts.ranks("h1") and not hosts.processes("h2"))
    assert not hosts.ranks("h1") and not hosts.processes("h2")
    assert not (hosts.shared / "x.h5").exists()


def test_a_host_that_dies_ends_the_job_and_another_goes_on(hosts, job):
    hosts.end("h2")
    _, stderr = job.communicate(timeout=300)
    assert job.returncode != 0 and not (hosts.shared / "x.h5").exists()
    wait_until(lambda: not hosts.ranks("h1"))
    assert not hosts.ranks("h1"), stderr
    done = hosts.run({"h1": 1, "h3": 1}, *SOLVE)
    assert "resumed from" in done.stdout
    shutil.move(hosts.shared / "x.h5", hosts.shared / "again.h5")
    (hosts.shared / "x.state").unlink(missing_ok=True)
    hosts.run({"h1": 1}, *SOLVE)
    assert (hosts.shared / "x.h5").read_bytes() == (hosts.shared / "again.h5").read_bytes()
