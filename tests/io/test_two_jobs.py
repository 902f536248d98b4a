"""A name has one writer: a second job is refused before any work and told who writes, and a dead job keeps nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import pairs
import pytest
from lock_files import lock
from program_under_test import built_program
from running_jobs import wait_until


SOLVE = "solve --gauge G --mass 0.5 --color 0"
# The command, and a name that it writes to.
WRITERS = {
    "solve --output": (f"{SOLVE} --output x.h5", "x.h5"),
    "solve --output of scidac": (f"{SOLVE} --output x.scidac", "x.scidac"),
    "the .info of fnal": ("solve --gauge G --mass 0.5 --output x.fnal", "x.fnal.info"),
    "solve --report": (f"{SOLVE} --report r.json", "r.json"),
    "solve --checkpoint": (f"{SOLVE} --checkpoint state.h5 --resume", "state.h5"),
    "the checkpoint before": (f"{SOLVE} --checkpoint state.h5 --resume", "state.h5.1"),
    "the unfinished file": ("solve --gauge G --mass 0.5 --sources z2:1 --output x.h5 --checkpoint state.h5", "x.h5.unfinished"),
    "many sources": ("solve --gauge G --mass 0.5 --sources z2:1 --output x.h5", "x.h5"),
    "campaign --output": ("solve --gauge G --mass 0.5 --output x_{mass}.h5", "x_0.5.h5"),
    "campaign --report": ("solve --gauge G;H --mass 0.5 --report c.json", "c.json"),
    "the lines of a record": ("solve --gauge G;H --mass 0.5 --report c.json", "c.json.unfinished"),
    "campaign --results": ("solve --gauge G --mass 0.5 --results c.h5", "c.h5"),
    "eigen --output": ("eigen --gauge G --pairs 4 --output e.h5", "e.h5"),
    "eigen --report": ("eigen --gauge G --pairs 4 --report r.json", "r.json"),
    "eigen --checkpoint": ("eigen --gauge G --pairs 4 --checkpoint state.h5", "state.h5"),
    "generate --output": ("generate --lattice 4 4 4 4 --output q.h5", "q.h5"),
    "generate --save-as": ("generate --lattice 4 4 4 4 --beta 6 --sweeps 2 --save-every 1 --save-as q_{n}.h5", "q_2.h5"),
    "convert": ("convert G q.nersc", "q.nersc"),
    "smear --fat": ("smear --gauge G --action asqtad --fat f.h5 --long l.h5", "f.h5"),
    "smear --long": ("smear --gauge G --action asqtad --fat f.h5 --long l.h5", "l.h5"),
    "smooth --output": ("smooth --gauge G --method ape --output s.h5", "s.h5"),
    "smooth --report": ("smooth --gauge G --method none --report s.json", "s.json"),
    "report": ("report old.json -o r.html", "r.html"),
    "bench --json": ("bench hop --lattice 4x4x4x4 --json b.json", "b.json"),
}


@pytest.fixture
def folder(small_gauge, tmp_path):
    for name in "GH":
        shutil.copy(small_gauge, tmp_path / name)
    (tmp_path / "old.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("writer, ranks", [
    *[(writer, 1) for writer in WRITERS],
    *[pytest.param(writer, 2, marks=pytest.mark.mpi) for writer in ("solve --output", "solve --checkpoint", "campaign --report")]])
def test_a_second_job_is_told_who_writes_before_it_works(writer, ranks, staghorn, expect_error, folder):
    words, name = WRITERS[writer]
    before = {*folder.iterdir(), lock(folder / name)}
    result = staghorn(*words.split(), *(["--force"] if "bench" not in words else []), cwd=folder, ranks=ranks)
    message = expect_error(result, 1, name, "a name that no other job writes to", f"process {os.getpid()} on {socket.gethostname()}",
                           "another job, since 2026-01-02T03:04:05Z")
    assert "remove" not in message
    assert "PLAQUETTE" not in result.stdout.upper() and "CERTIFICATE" not in result.stdout
    assert {*folder.iterdir()} == before


def test_of_two_jobs_the_first_ends_well(staghorn, launch, expect_error, folder):
    """The first is stopped while it solves; the second hears of it, and the first goes on."""
    job = ["solve", "--gauge", folder / "G", "--mass", "0.002", "--source", "z2:1", "--output", folder / "x.h5", "--report", folder / "r.json"]
    first = launch(*job, "--checkpoint", folder / "state.h5", "--checkpoint-every", 0)
    wait_until(lambda: (folder / "state.h5").exists() or first.poll() is not None)
    first.send_signal(signal.SIGSTOP)
    try:
        assert first.poll() is None
        for name in ("x.h5", "r.json"):
            result = staghorn("solve", "--gauge", "G", "--mass", "0.5", "--output" if name == "x.h5" else "--report", name, "--force", cwd=folder)
            expect_error(result, 1, name, f"process {first.pid} on ", "--mass 0.002")
    finally:
        first.send_signal(signal.SIGCONT)
    _, error = first.communicate(timeout=180)
    assert first.returncode == 0, error
    staghorn("inspect", "x.h5", cwd=folder, check=True)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("how", [{"start": "1"}, {"process": 2**22 + 5, "thread": 2**22 + 5}, {"boot": "earlier"}], ids=["other start", "gone", "reboot"])
def test_a_dead_job_keeps_no_name(how, staghorn, folder):
    for name in ("x.h5", "r.json"):
        lock(folder / name, **how)
    staghorn(*SOLVE.split(), "--output", "x.h5", "--report", "r.json", cwd=folder, check=True)
    assert json.loads((folder / "r.json").read_text())["outcome"] == "certified" and not list(folder.glob(".*"))


@pytest.mark.parametrize("how", [{"host": "node17", "start": "1"}, {"processes": "pid:[1]", "start": "1"}], ids=["host", "container"])
def test_what_cannot_be_seen_from_here_is_refused_with_advice(how, staghorn, expect_error, folder):
    file = lock(folder / "x.h5", **how)
    result = staghorn(*SOLVE.split(), "--output", "x.h5", "--force", cwd=folder)
    expect_error(result, 1, "x.h5", how.get("host", socket.gethostname()), f"if that process has ended, remove '{file.name}'")
    file.unlink()
    staghorn(*SOLVE.split(), "--output", "x.h5", cwd=folder, check=True)


def test_a_link_and_its_target_are_one_name(staghorn, expect_error, folder):
    (folder / "there").mkdir()
    (folder / "x.h5").symlink_to("there/y.h5")
    lock(folder / "there/y.h5")
    expect_error(staghorn(*SOLVE.split(), "--output", "x.h5", cwd=folder), 1, "x.h5", "no other job")
    # Two outputs of one job, too, whatever their names look like.
    expect_error(staghorn(*SOLVE.split(), "--output", "z.h5", "--report", "./z.h5", cwd=folder), 1, "./z.h5", "another file for each output")


PYTHON = """
import sys, numpy as np, staghorn
def refused(name, work):
    try:
        work()
    except staghorn.Error as error:
        assert error.kind == "file" and name in str(error) and "no other job" in str(error), error
    else:
        raise SystemExit(f"{name} was written")
links, _ = staghorn.read_gauge("G")
vector = np.ones(links.shape[:4] + (3,), complex)
session = staghorn.Session("G")
solve = dict(checkpoint="L", resume=True)
refused("L", lambda: staghorn.write_gauge("L", links, format="hdf5", force=True))
refused("L", lambda: staghorn.write_vectors("L", vector, format="hdf5", force=True))
refused("L", lambda: staghorn.generate((4, 4, 4, 4), output="L", format="hdf5", force=True))
refused("L", lambda: session.eigen(4, output="L", force=True))
refused("L", lambda: session.eigen(4, checkpoint="L", resume=True))
refused("L", lambda: session.solve(0.5, "point:0,0,0,0", **solve))
refused("L", lambda: staghorn.campaign(["G", "H"], 0.5, "point:0,0,0,0", report="L", force=True))
refused("L", lambda: staghorn.campaign(["G", "H"], 0.5, "point:0,0,0,0", results="L", force=True))
"""


def test_python_is_told_too(folder):
    lock(folder / "L")
    result = subprocess.run([sys.executable, "-c", PYTHON], cwd=folder, text=True, capture_output=True,
                            env=os.environ | {"PYTHONPATH": str(built_program("python"))})
    assert result.returncode == 0, result.stderr
    assert not (folder / "L").exists()


@pytest.mark.usefixtures("program")
def test_pairs_and_kills_leave_files_of_one_job(tmp_path):
    """A few of what tests/pairs.py does by the hundred."""
    tallies, faults = pairs.run(tmp_path, 6, ["solve", "fnal", "campaign"], seed=3)
    assert not faults
    assert sum(tally["kills"] for tally in tallies.values()) > 0 and sum(tally["pairs"] for tally in tallies.values()) > 1
