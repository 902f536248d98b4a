"""A job of many sources that ends by a signal, or is killed, goes on from its checkpoint with no bit changed."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

GAUGE = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
DATE = {"SOURCE_DATE_EPOCH": "1795199983"}  # files of equal solves are equal to the byte
SOURCES = "z2:1; point:0,1,2,3; gaussian:4; wall:5; z2:2"  # nine right-hand sides
CASES = {
    "fp64": ["--mass", 0.1],
    "fp32-many-passes": ["--mass", 0.2, "--precision", "fp32", "--tolerance", 1e-10, "--system", "even"],
    "mixed-fp32": ["--mass", 0.1, "--sloppy", "fp32"],
    "mixed-fp16-milc": ["--mass", 0.2, "--sloppy", "fp16", "--links", 12, "--phases", "milc"],
}


class Job:
    """A job in a folder: plain, with a checkpoint, or running."""

    def __init__(self, staghorn, launch, folder, options, sources=SOURCES):
        self.staghorn, self.launch, self.folder = staghorn, launch, folder
        self.options = ["solve", "--gauge", GAUGE, *options, "--sources", sources]
        self.checkpoint = folder / "state.h5"

    def files(self, name):
        return ["--output", self.folder / f"{name}.h5", "--report", self.folder / f"{name}.json", "--force"]

    def run(self, name, *more, check=True, **where):
        return self.staghorn(*self.options, *self.files(name), *more, check=check, env=DATE, **where)

    def start(self, name, *more, ranks=1):
        return self.launch(*self.options, *self.files(name), *more, *self.with_checkpoint(), "--quiet", ranks=ranks, env=DATE)

    def with_checkpoint(self, *more):
        return ["--checkpoint", self.checkpoint, "--checkpoint-every", 0, *more]

    def report(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def unfinished(self, name):
        return self.folder / f"{name}.h5.unfinished"

    def written(self):
        return self.checkpoint.stat().st_mtime_ns if self.checkpoint.exists() else None

    def has_solutions(self, name):
        path = self.unfinished(name)
        return path.exists() and path.stat().st_size >= 4096 + 8192 * 48

    def end(self, name, which, after, *more, ranks=1, with_solutions=False):
        """Starts the job, sends a signal so many seconds after its first checkpoint, or after the first one that knows of a
        solution, and returns its exit status."""
        before = self.written()
        job = self.start(name, *more, ranks=ranks)
        while self.written() == before and job.poll() is None:
            time.sleep(0.002)
        while with_solutions and not self.has_solutions(name) and job.poll() is None:
            time.sleep(0.002)
        time.sleep(after)
        job.send_signal(which)
        job.communicate(timeout=60)
        return job.returncode

    def assert_same(self, name, expected="plain"):
        found, wanted = self.report(name), self.report(expected)
        assert found["rhs"] == wanted["rhs"] and found["sources"] == wanted["sources"]
        assert (self.folder / f"{name}.h5").read_bytes() == (self.folder / f"{expected}.h5").read_bytes()
        assert not self.unfinished(name).exists()


@pytest.fixture
def job(staghorn, launch, tmp_path):
    def make(case="fp64", **how):
        made = Job(staghorn, launch, tmp_path, CASES[case], **how)
        made.run("plain", "--batch", 3)
        return made

    return make


@pytest.mark.parametrize("case", CASES)
def test_job_that_is_ended_goes_on_elsewhere(job, case):
    job = job(case)
    status = job.end("x", signal.SIGTERM, 0.1, "--batch", 4)
    assert status == 5 and job.unfinished("x").exists()
    assert not (job.folder / "x.h5").exists() and not (job.folder / "x.json").exists()
    # Ended once more, with fewer columns than were in flight; then on two ranks.
    status = job.end("x", signal.SIGTERM, 0.1, "--resume", "--batch", 3)
    assert status in (0, 5)
    if status == 5:
        job.run("x", *job.with_checkpoint("--resume"), "--batch", 5, "--grid", "1,1,1,2", ranks=2, threads=1)
        checkpoint = job.report("x")["checkpoint"]
        assert checkpoint["resumed_from"].startswith(str(job.checkpoint)) and checkpoint["notes"] == []
        assert checkpoint["resumed_iterations"] > 0
    job.assert_same("x")


def test_checkpoints_change_no_bit_and_leave_nothing_behind(job):
    job = job("mixed-fp32")
    job.run("kept", *job.with_checkpoint(), "--batch", 4)
    assert job.report("kept")["checkpoint"]["written"] > 20
    job.assert_same("kept")


@pytest.mark.parametrize("after", [0.02, 0.3, 0.7])
def test_job_that_is_killed_goes_on(job, after):
    job = job()
    status = job.end("x", signal.SIGKILL, after, "--batch", 3)
    assert status == -9, "the job was over before it was killed"
    assert not (job.folder / "x.h5").exists()
    job.run("x", *job.with_checkpoint("--resume"), "--batch", 2)
    job.assert_same("x")


@pytest.mark.parametrize("damage", ["flipped", "truncated", "absent"])
def test_solutions_that_are_lost_are_solved_again(job, damage):
    job = job()
    assert job.end("x", signal.SIGTERM, 0, "--batch", 2, with_solutions=True) == 5
    path = job.unfinished("x")
    whole = bytearray(path.read_bytes())
    whole[4096 + 1000] ^= 1  # of the first solution
    if damage == "absent":
        path.unlink()
    else:
        path.write_bytes(bytes(whole) if damage == "flipped" else bytes(whole[:8000]))
    result = job.run("x", *job.with_checkpoint("--resume"), "--batch", 2)
    notes = job.report("x")["checkpoint"]["notes"]
    assert any("source 0 is solved again" in note for note in notes) and "warning: source 0" in result.stdout
    assert (len(notes) == 1) == (damage == "flipped") or len(notes) >= 1
    job.assert_same("x")


@pytest.mark.parametrize("options, words", [
    (["--sources", "z2:1; point:0,1,2,3; gaussian:4; wall:5; z2:3"], ["sources_hash: expected"]),
    (["--color", 1], ["sources_hash: expected"]),
    (["--phases", "milc"], ["phases: expected milc", "found cps"]),
    (["--tolerance", 1e-9], ["tolerance: expected 1e-09"]),
])
def test_state_of_another_job_is_refused(staghorn, launch, tmp_path, expect_error, options, words):
    job = Job(staghorn, launch, tmp_path, CASES["fp64"])
    assert job.end("x", signal.SIGTERM, 0, "--batch", 3) == 5
    if options[0] == "--sources":
        job.options = [*job.options[:-2]]
    expect_error(job.run("x", *job.with_checkpoint("--resume"), *options, check=False), 1, f"checkpoint {job.checkpoint}", *words)
    assert job.unfinished("x").exists()


def test_what_cannot_go_on_is_refused(staghorn, tmp_path, expect_error):
    state = ["solve", "--gauge", GAUGE, "--mass", 0.1, "--sources", "z2:1;z2:2", "--checkpoint", tmp_path / "state.h5"]
    expect_error(staghorn(*state), 1, "--checkpoint: expected an --output file")
    expect_error(staghorn(*state, "--solver", "block", "--output", tmp_path / "x.h5"), 1,
                 "--checkpoint: expected the solver cg or mixed")
    (tmp_path / "state.h5").write_bytes(b"no checkpoint")
    expect_error(staghorn(*state, "--output", tmp_path / "x.h5"), 1, "state.h5 exists already")
    expect_error(staghorn(*state, "--output", tmp_path / "x.h5", "--resume"), 1, "no checkpoint can be used")
    assert not list(tmp_path.glob("x.h5*")), "a job that was refused leaves nothing"
