"""A job of many sources that ends by a signal goes on from its checkpoint with no bit changed. Kills: mpi/test_kills.py."""

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
    "fp64": ["--sloppy", "none", "--mass", 0.1],
    "fp32-many-passes": ["--mass", 0.2, "--precision", "fp32", "--tolerance", 1e-10, "--system", "even"],
    "mixed-fp32": ["--mass", 0.1, "--sloppy", "fp32"],
    "mixed-fp16-milc": ["--mass", 0.2, "--sloppy", "fp16", "--links", 12, "--phases", "milc"],
}
IN_TURN = "z2:1; point:0,1,2,3; gaussian:4"  # five right-hand sides
BATCHES = {  # solvers that take sources batch after batch; 4x6x8x10
    "block": ["--sloppy", "none", "--mass", 0.1, "--solver", "block"],
    "masses": ["--masses", "0.1,0.2", "--sloppy", "fp32"],
    "deflated": ["--mass", 0.05, "--eigenvectors", "PAIRS", "--sloppy", "fp32"],
}


class Job:
    """A job in a folder: plain, with a checkpoint, or running."""

    def __init__(self, staghorn, launch, folder, options, sources=SOURCES, gauge=GAUGE, sites=8192):
        self.staghorn, self.launch, self.folder, self.sites = staghorn, launch, folder, sites
        self.options = ["solve", "--gauge", gauge, *options, "--sources", sources]
        self.checkpoint = folder / "state.h5"

    def files(self, name):
        return ["--output", self.folder / f"{name}.h5", "--report", self.folder / f"{name}.json", "--force"]

    def run(self, name, *more, check=True, **where):
        return self.staghorn(*self.options, *self.files(name), *more, check=check, env=DATE, **where)

    def start(self, name, *more, ranks=1):
        return self.launch(*self.options, *self.files(name), *more, *self.with_checkpoint(), "--quiet", ranks=ranks, env=DATE)

    def with_checkpoint(self, *more):
        return ["--checkpoint", self.checkpoint, "--checkpoint-every", 0, "--keep-checkpoint", *more]

    def report(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def unfinished(self, name):
        return self.folder / f"{name}.h5.unfinished"

    def written(self):
        return self.checkpoint.stat().st_mtime_ns if self.checkpoint.exists() else None

    def has_solutions(self, name):
        path = self.unfinished(name)
        return path.exists() and path.stat().st_size >= 4096 + self.sites * 48

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
        job.communicate(timeout=180)
        return job.returncode

    def assert_same(self, name, plain):
        """`plain`: the folder of the job in one piece."""
        found, wanted = self.report(name), json.loads((plain / "plain.json").read_text())
        assert found["rhs"] == wanted["rhs"] and found["sources"] == wanted["sources"]
        assert (self.folder / f"{name}.h5").read_bytes() == (plain / "plain.h5").read_bytes()
        assert not self.unfinished(name).exists()


@pytest.fixture(scope="module")
def plain(staghorn, launch, tmp_path_factory):
    """plain(case) -> the folder of that job in one piece, which is run once."""
    folders = {}

    def find(case="fp64"):
        if case not in folders:
            folders[case] = tmp_path_factory.mktemp("plain")
            Job(staghorn, launch, folders[case], CASES[case]).run("plain", "--batch", 3)
        return folders[case]

    return find


@pytest.fixture
def job(staghorn, launch, tmp_path):
    return lambda case="fp64": Job(staghorn, launch, tmp_path, CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_job_that_is_ended_goes_on_elsewhere(job, plain, case):
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
    job.assert_same("x", plain(case))


def test_checkpoints_change_no_bit_and_leave_nothing_behind(job, plain):
    job = job("mixed-fp32")
    job.run("kept", *job.with_checkpoint(), "--batch", 4)
    assert job.report("kept")["checkpoint"]["written"] > 20
    job.assert_same("kept", plain("mixed-fp32"))


@pytest.mark.parametrize("damage", ["flipped", "truncated", "absent"])
def test_solutions_that_are_lost_are_solved_again(job, plain, damage):
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
    job.assert_same("x", plain())


@pytest.fixture(scope="module")
def pairs(staghorn, rough_gauge, tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.h5"
    staghorn("eigen", "--gauge", rough_gauge, "--pairs", 12, "--output", path, "--storage", "fp16", check=True)
    return path


@pytest.mark.parametrize("case", BATCHES)
def test_job_of_batches_that_is_ended_goes_on_elsewhere(staghorn, launch, tmp_path, rough_gauge, pairs, expect_error, case):
    options = [pairs if option == "PAIRS" else option for option in BATCHES[case]]
    job = Job(staghorn, launch, tmp_path, options, IN_TURN, rough_gauge, 1920)
    job.run("plain", "--batch", 2)
    assert job.end("x", signal.SIGTERM, 0.05, "--batch", 2, with_solutions=True) == 5
    assert job.unfinished("x").exists() and not (tmp_path / "x.h5").exists()
    job.run("x", *job.with_checkpoint("--resume"), "--batch", 2, "--grid", "1,1,2,1", ranks=2, threads=1)
    found, wanted = job.report("x"), job.report("plain")
    assert found["checkpoint"]["resumed_from"].startswith(str(job.checkpoint)) and found["checkpoint"]["notes"] == []
    assert found["checkpoint"]["resumed_iterations"] > 0 and found["batch"] == wanted["batch"] and wanted["batch"]["columns"] == 2
    for entry in ("outcome", "multi_shift", "took_over"):
        assert found.get(entry) == wanted.get(entry), entry
    job.assert_same("x", tmp_path)
    # Its last state, without the solutions: they are all solved again but for the search in flight.
    result = job.run("x", *job.with_checkpoint("--resume"), "--batch", 2)
    assert "warning: solution 0 is solved again" in result.stdout
    job.assert_same("x", tmp_path)
    expect_error(job.run("x", *job.with_checkpoint("--resume"), "--batch", 3, check=False), 1, "batch: expected 3, found 2")


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
    expect_error(staghorn(*state, "--solver", "block"), 1, "--checkpoint: expected an --output file")
    (tmp_path / "state.h5").write_bytes(b"no checkpoint")
    expect_error(staghorn(*state, "--output", tmp_path / "x.h5"), 1, "state.h5 exists already")
    expect_error(staghorn(*state, "--output", tmp_path / "x.h5", "--resume"), 1, "no checkpoint can be used")
    assert not list(tmp_path.glob("x.h5*")), "a job that was refused leaves nothing"


def test_a_state_is_removed_when_all_is_certified_and_written(staghorn, tmp_path, small_gauge, expect_error):
    """With --keep-checkpoint it stays, and so does that of a solve that did not converge; of each configuration of a campaign, too."""
    asked = ["solve", "--gauge", small_gauge, "--mass", 0.5, "--checkpoint", tmp_path / "state.h5", "--checkpoint-every", 0, "--force"]

    def states():
        return sorted(path.name for path in tmp_path.glob("state*"))

    for source in (["--source", "z2:1"], ["--sources", "z2:1; z2:2", "--output", tmp_path / "x.h5"]):
        staghorn(*asked, *source, "--report", tmp_path / "r.json", check=True)
        assert json.loads((tmp_path / "r.json").read_text())["checkpoint"]["written"] >= 1 and not states()
        staghorn(*asked, *source, "--keep-checkpoint", check=True)
        assert "state.h5" in states()
        for name in states():
            (tmp_path / name).unlink()
    assert staghorn(*asked, "--source", "z2:1", "--max-iterations", 20).returncode == 3 and "state.h5" in states()
    for name in states():
        (tmp_path / name).unlink()
    asked[asked.index("--checkpoint") + 1] = tmp_path / "state_{gauge}.h5"
    staghorn(*asked, "--sources", "z2:1", "--output", tmp_path / "y_{gauge}.h5", "--report", tmp_path / "c.json", check=True)
    assert json.loads((tmp_path / "c.json").read_text())["configurations"][0]["report"]["checkpoint"]["written"] >= 1 and not states()
    staghorn(*asked, "--sources", "z2:1", "--output", tmp_path / "y_{gauge}.h5", "--keep-checkpoint", check=True)
    assert len(states()) >= 1
    expect_error(staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--keep-checkpoint"), 2, "--keep-checkpoint", "--checkpoint")
