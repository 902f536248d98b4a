"""Ranks on several hosts, which know each other by a network only: what they find, the same bits, files, campaigns."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from program_under_test import PROGRAM
from running_jobs import wait_until
from solve_files import solution_bytes

pytestmark = pytest.mark.mpi

SOLVE = ["solve", "--gauge", "rough.h5", "--mass", "0.5", "--source", "z2:1", "--force"]
TWO, EVEN, UNEVEN = {"h1": 1, "h2": 1}, {"h1": 2, "h2": 2}, {"h1": 3, "h2": 1}


@pytest.fixture(scope="module")
def alone(hosts, rough_gauge):
    """What one rank answers, for the configuration that all hosts find in the shared folder."""
    shutil.copy(rough_gauge, hosts.shared / "rough.h5")
    hosts.call("h1", PROGRAM, *SOLVE, "--output", "alone.h5", "--quiet")
    return (hosts.shared / "alone.h5").read_bytes()


def message(done) -> str:
    """The one message of all ranks."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("staghorn: ")]
    assert done.returncode != 0 and len(lines) == 1, done.stdout + done.stderr
    return lines[0]


@pytest.mark.parametrize("ranks, mapping", [(TWO, "host"), (EVEN, "host"), (UNEVEN, "natural"), ({"h1": 2, "h2": 1, "h3": 1}, "natural")],
                         ids=lambda value: "".join(map(str, value.values())) if isinstance(value, dict) else value)
def test_ranks_find_their_hosts_and_have_the_bits_of_one(hosts, alone, ranks, mapping):
    hosts.run(ranks, *SOLVE, "--output", "x.h5", "--report", "x.json")
    report = json.loads((hosts.shared / "x.json").read_text())
    assert (report["ranks"], report["hosts"], report["mapping"]) == (sum(ranks.values()), len(ranks), mapping)
    assert report["outcome"] == "certified" and report["transport"] == "mpi"
    assert (hosts.shared / "x.h5").read_bytes() == alone


def test_bench_mapping_finds_the_hosts(hosts, alone):
    hosts.run(EVEN, "bench", "mapping", "--lattice", 4, 4, 4, 8, "--precision", "fp64", "--links", 18, "--seconds", 0.01, "--stream-mib", 16, "--json", "b.json")
    rows = json.loads((hosts.shared / "b.json").read_text())["results"]
    assert {row["hosts"] for row in rows} == {2} and {row["mapping"] for row in rows} >= {"natural", "host"}


def test_hosts_with_other_kernels_have_the_same_bits(hosts, alone):
    """A host whose processor has narrower registers, here by a variable in a profile of its own."""
    narrow = hosts.folder / "narrow"
    narrow.write_text('#!/bin/sh\n[ "$(hostname)" = h2 ] && export STAGHORN_CPU_KERNELS=baseline\nexec "$@"\n')
    narrow.chmod(0o755)
    hosts.run(EVEN, PROGRAM, *SOLVE, "--output", "n.h5", "--report", "n.json", program=narrow)
    assert (hosts.shared / "n.h5").read_bytes() == alone


# A folder that is another one on each host.
def test_links_that_one_host_lacks_are_told_with_its_name(hosts, alone):
    hosts.call("h1", "cp", hosts.shared / "rough.h5", hosts.private)
    words = [hosts.private / "rough.h5" if word == "rough.h5" else word for word in SOLVE]
    said = message(hosts.run(TWO, *words, "--output", "p.h5", check=False))
    assert "private/rough.h5: cannot be read: " in said and "(rank 1, on host h2; not rank 0, on host h1)" in said
    assert not (hosts.shared / "p.h5").exists()


@pytest.mark.parametrize("option", ["--output", "--checkpoint"])
def test_what_all_ranks_write_must_be_shared(hosts, alone, option):
    outputs = {"--output": "p.h5", "--checkpoint": "p.state", option: hosts.private / "p.h5"}
    said = message(hosts.run(TWO, *SOLVE, *(word for pair in outputs.items() for word in pair), check=False))
    assert "private/p.h5: expected a folder that all hosts share, for a file that all ranks write, found one that differs (rank 1, on host h2; " in said
    assert not [path for name in ("p.h5", "p.state") for path in hosts.shared.glob(f"*{name}*")]
    assert hosts.call("h1", "ls", "-A", hosts.private).stdout.split() in ([], ["rough.h5"])


def test_a_report_may_lie_on_the_first_host_alone(hosts, alone):
    hosts.run(TWO, *SOLVE, "--output", "r.h5", "--report", hosts.private / "r.json")
    assert (hosts.shared / "r.h5").read_bytes() == alone
    assert "certified" in hosts.call("h1", "cat", hosts.private / "r.json").stdout
    assert hosts.call("h2", "ls", hosts.private / "r.json", check=False).returncode != 0


def test_a_state_of_two_hosts_goes_on_on_three(hosts, alone):
    words = [*SOLVE, "--output", "c.h5", "--checkpoint", "c.state", "--checkpoint-every", "0", "--resume"]
    job = hosts.start(EVEN, *words, env={"STAGHORN_STRESS_DELAYS": "5000,1"})  # so that it lasts
    wait_until(lambda: (hosts.shared / "c.state").exists() or job.poll() is not None)
    hosts.signal("TERM", hosts.ranks("h2")[-1:])
    _, stderr = job.communicate(timeout=300)
    assert job.returncode != 0 and "ended by a signal after" in stderr, stderr
    assert not (hosts.shared / "c.h5").exists()
    hosts.run({"h3": 1, "h1": 1, "h2": 2}, *words, "--report", "c.json")
    assert json.loads((hosts.shared / "c.json").read_text())["checkpoint"]["resumed_iterations"] > 0
    assert (hosts.shared / "c.h5").read_bytes() == alone


CAMPAIGN = ["solve", "--gauge", "q_*.h5", "--mass", "0.2", "--color", "0", "--output", "x_{n:04}.h5", "--report", "r_{gauge}.json"]


def test_jobs_of_two_hosts_share_a_campaign(hosts, alone):
    """As configs/many.slurm on two nodes; then a job of ranks on both finds all done."""
    hosts.call("h1", PROGRAM, "generate", "--lattice", "4x6x4x8", "--beta", 5.7, "--sweeps", 4, "--save-every", 1, "--save-as", "'q_{n:04}.h5'")
    line = hosts.alone(PROGRAM, *(f"'{word}'" for word in CAMPAIGN))
    jobs = [subprocess.Popen(hosts.on(host, line), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for host in ("h1", "h2", "h3")]
    said = [job.communicate(timeout=300) for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0], said
    hosts.call("h2", PROGRAM, "campaign", "merge", "r_*.json", "--report", "all.json")
    record = json.loads((hosts.shared / "all.json").read_text())
    assert [part["outcome"] for part in record["configurations"]] == ["certified"] * 4
    before, written = ({path.name: of(path) for path in hosts.shared.glob("x_*.h5")} for of in (solution_bytes, lambda path: path.stat().st_mtime_ns))
    done = hosts.run(EVEN, *(f"'{word}'" for word in CAMPAIGN))
    assert len(before) == 4 and {path.name: path.stat().st_mtime_ns for path in hosts.shared.glob("x_*.h5")} == written, done.stdout
    hosts.run(EVEN, *(f"'{word.replace('x_', 'y_').replace('r_', 's_')}'" for word in CAMPAIGN))
    assert {path.name.replace("y_", "x_"): solution_bytes(path) for path in hosts.shared.glob("y_*.h5")} == before
