"""A solve that ends by a signal, or is killed, goes on from its checkpoint with no bit changed, wherever it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from running_jobs import ranks_below

GAUGE = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
DATE = {"SOURCE_DATE_EPOCH": "1795199983"}  # files of equal solves are equal to the byte

# What is solved, and what the report must say so that the case is the one it is meant to be.
CASES = {
    "fp64": (["--sloppy", "none", "--mass", 0.05, "--color", 0], lambda r: r["rhs"][0]["updates"] == []),
    "fp64-all-colors-12": (["--sloppy", "none", "--mass", 0.1, "--links", 12], lambda r: len(r["rhs"]) == 3),
    "fp32-many-passes": (["--mass", 0.1, "--precision", "fp32", "--tolerance", 1e-11, "--system", "even", "--source", "z2:3",
                          "--noise-vectors", 2], lambda r: len(r["rhs"][0]["history"]) > 20 and r["certificate"] == "host"),
    "mixed-fp32": (["--mass", 0.05, "--color", 1, "--sloppy", "fp32", "--system", "odd", "--source", "corner-wall:1"],
                   lambda r: len(r["rhs"][0]["updates"]) >= 1),
    "mixed-fp16": (["--mass", 0.05, "--color", 0, "--sloppy", "fp16", "--links", 8],
                   lambda r: len(r["rhs"][0]["updates"]) >= 3),
    "mixed-that-gives-up": (["--mass", 0.001, "--color", 0, "--sloppy", "fp16", "--sloppy-links", 8, "--tolerance", 1e-13,
                             "--max-iterations", 3000], lambda r: r["precise_loop"] == "host"),
    "mixed-several": (["--mass", 0.05, "--sloppy", "fp32", "--source", "z2:1", "--noise-vectors", 2],
                      lambda r: r["rhs"][0]["iterations"] != r["rhs"][1]["iterations"]),
    "block": (["--sloppy", "none", "--mass", 0.02, "--solver", "block", "--source", "point:0,0,0,0"],  # one of the colours is zero on even sites
              lambda r: r["loop"] == "block" and not r["took_over"]),
    "block-mixed": (["--mass", 0.05, "--solver", "block", "--sloppy", "fp32", "--source", "z2:1", "--noise-vectors", 4],
                    lambda r: r["loop"] == "block" and not r["took_over"] and r["rhs"][0]["updates"]),
    "block-mixed-that-gives-up": (["--mass", 0.001, "--solver", "block", "--sloppy", "fp32", "--source", "z2:1",
                                   "--noise-vectors", 2], lambda r: r["took_over"].startswith("block in fp64")),
    "preconditioned": (["--mass", 0.05, "--preconditioner", "chebyshev:2", "--source", "z2:1", "--noise-vectors", 2],
                       lambda r: r["solver"] == "flexible" and r["rhs"][0]["iterations"] > 32),
    "deflated": (["--sloppy", "none", "--mass", 0.01, "--eigenvectors", "fp64", "--source", "z2:1", "--noise-vectors", 2],
                 lambda r: r["deflation"]["projections"] == 1),
    "deflated-odd": (["--sloppy", "none", "--mass", 0.01, "--eigenvectors", "fp16", "--source", "z2:1", "--system", "odd", "--color", 0],
                     lambda r: r["deflation"]["projections"] > 2),
    "deflated-mixed": (["--mass", 0.01, "--eigenvectors", "fp16", "--source", "z2:1", "--sloppy", "fp32"],
                       lambda r: r["deflation"]["projections"] > 2),
    "deflated-block-mixed": (["--mass", 0.05, "--eigenvectors", "fp16", "--source", "z2:1", "--noise-vectors", 2, "--solver",
                              "block", "--sloppy", "fp32"], lambda r: r["deflation"]["projections"] > 1 and r["loop"] == "block"),
    "masses": (["--sloppy", "none", "--masses", "0.02,0.05,0.2", "--source", "z2:1"],  # the states are those of the iterations for all
               lambda r: r["multi_shift"]["columns"] == 2 and r["rhs"][0]["iterations"] == r["multi_shift"]["iterations"]),
    "masses-mixed": (["--masses", "0.1,0.15", "--source", "point:0,0,0,0", "--sloppy", "fp32"],  # those of polishing
                     lambda r: r["multi_shift"]["sloppy_iterations"] > 0 and r["rhs"][0]["updates"]),
    # In fp64 for 112 iterations, then in fp32: states of the second part, and of the first.
    "masses-close": (["--masses", "0.1,0.101,0.102,0.103", "--source", "z2:1", "--sloppy", "fp32"],
                     lambda r: 32 < r["multi_shift"]["sloppy_iterations"] < r["multi_shift"]["iterations"]),
    "masses-close-before": (["--masses", "0.1,0.101,0.102,0.103", "--source", "z2:1", "--sloppy", "fp32", "--max-iterations", 124],
                            lambda r: r["multi_shift"]["sloppy_iterations"] == 12),
    "masses-deflated": (["--sloppy", "none", "--masses", "0.02,0.05", "--source", "z2:1", "--eigenvectors", "fp16", "--system", "odd"],
                        lambda r: r["deflation"]["projections"] > 2),
    # Of the last group there is one state, so the one before is of the first group.
    "masses-epsilons": (["--sloppy", "none", "--masses", "0.3,1.2:-0.2,0.4", "--action", "hisq", "--source", "z2:1"],
                        lambda r: [g["masses"] for g in r["multi_shift"]["groups"]] == [[0.3, 0.4], [1.2]]
                        and 16 < r["multi_shift"]["groups"][1]["iterations"] < 32),
    "hisq": (["--mass", 0.1, "--color", 2, "--action", "hisq", "--sloppy", "fp32"],
             lambda r: r["action"] == "hisq" and len(r["rhs"][0]["updates"]) >= 1),
}


class Solves:
    """Solves of one request in a folder: plain, with a checkpoint, or running."""

    def __init__(self, staghorn, launch, folder, gauge, options):
        self.staghorn, self.launch, self.folder = staghorn, launch, folder
        self.options = ["solve", "--gauge", gauge, *options]
        self.checkpoint = folder / "state.h5"

    def files(self, name):
        return ["--output", self.folder / f"{name}.h5", "--report", self.folder / f"{name}.json", "--force"]

    def run(self, name, *more, check=True, **where):
        return self.staghorn(*self.options, *self.files(name), *more, check=check, env=DATE, **where)

    def start(self, name, *more, ranks=1):
        return self.launch(*self.options, *self.files(name), *more, "--quiet", ranks=ranks, env=DATE)

    def with_checkpoint(self, *more):
        return ["--checkpoint", self.checkpoint, "--checkpoint-every", 0, "--keep-checkpoint", *more]

    def report(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def assert_same(self, name, expected="plain"):
        found, wanted = self.report(name), self.report(expected)
        for entry in ("rhs", "loop", "took_over", "multi_shift"):
            assert found.get(entry) == wanted.get(entry)
        assert (self.folder / f"{name}.h5").read_bytes() == (self.folder / f"{expected}.h5").read_bytes()


@pytest.fixture(scope="module")
def eigenvectors(staghorn, rough_gauge, tmp_path_factory):
    """Files of the lowest pairs, by the precision of their vectors."""
    folder = tmp_path_factory.mktemp("pairs")
    for storage in ("fp64", "fp16"):
        staghorn("eigen", "--gauge", rough_gauge, "--pairs", 12, "--output", folder / f"{storage}.h5", "--storage", storage,
                 check=True)
    return lambda storage: folder / f"{storage}.h5"


@pytest.fixture(params=CASES)
def case(request, staghorn, launch, tmp_path, rough_gauge, eigenvectors):
    options, is_meant = CASES[request.param]
    if "--eigenvectors" in options:
        place = options.index("--eigenvectors") + 1
        options = [*options[:place], eigenvectors(options[place]), *options[place + 1:]]
    solves = Solves(staghorn, launch, tmp_path, rough_gauge, options)
    solves.run("plain", check=False)
    assert is_meant(solves.report("plain"))
    return solves


def test_resumed_solve_has_the_bits_of_one_in_one_piece(case):
    case.run("kept", *case.with_checkpoint(), check=False)  # the file holds the last state before the end
    case.assert_same("kept")
    assert case.report("kept")["checkpoint"]["written"] >= 2
    before = Path(f"{case.checkpoint}.1").read_bytes()
    case.run("elsewhere", *case.with_checkpoint("--resume"), "--loopback", "xt", check=False, threads=2)
    resumed = case.report("elsewhere")["checkpoint"]
    assert resumed["resumed_from"] == str(case.checkpoint) and resumed["resumed_iterations"] >= 16
    case.assert_same("elsewhere")
    # The state before that is kept beside it, and leads to the same end.
    case.checkpoint.write_bytes(before)
    case.run("before", *case.with_checkpoint("--resume"), check=False)
    case.assert_same("before")


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plain")


@pytest.fixture
def long_solve(staghorn, launch, tmp_path, plain_folder):
    """A solve of about a second, and its answer in one piece."""
    solves = Solves(staghorn, launch, tmp_path, GAUGE, ["--mass", 0.05, "--color", 0])
    names = [f"plain.{ending}" for ending in ("h5", "json")]
    if not (plain_folder / names[0]).exists():
        solves.folder = plain_folder
        solves.run("plain")
        solves.folder = tmp_path
    for name in names:
        (tmp_path / name).write_bytes((plain_folder / name).read_bytes())
    return solves


def wait_for(path, job):
    while not path.exists() and job.poll() is None:
        time.sleep(0.002)
    assert path.exists()


@pytest.mark.parametrize("which, status", [(signal.SIGTERM, 5), (signal.SIGKILL, -9)])
def test_solve_that_is_ended_goes_on(long_solve, which, status):
    job = long_solve.start("ended", *long_solve.with_checkpoint())
    wait_for(long_solve.checkpoint, job)
    job.send_signal(which)
    _, stderr = job.communicate(timeout=180)
    assert job.returncode == status, stderr
    assert not (long_solve.folder / "ended.h5").exists() and not (long_solve.folder / "ended.json").exists()
    if status == 5:
        assert "--resume goes on from" in stderr and "ended by a signal" in stderr
    long_solve.run("resumed", *long_solve.with_checkpoint("--resume"), "--loopback", "zt", threads=2)
    assert long_solve.report("resumed")["checkpoint"]["resumed_from"].startswith(str(long_solve.checkpoint))
    long_solve.assert_same("resumed")


@pytest.mark.mpi
def test_state_of_two_ranks_goes_on_on_four(long_solve):
    job = long_solve.start("ended", *long_solve.with_checkpoint(), ranks=2)
    wait_for(long_solve.checkpoint, job)
    os.kill(ranks_below(job.pid)[1], signal.SIGINT)  # one rank alone is told
    _, stderr = job.communicate(timeout=180)
    assert "ended by a signal" in stderr and not (long_solve.folder / "ended.h5").exists()
    long_solve.run("resumed", *long_solve.with_checkpoint("--resume"), "--grid", "2,1,1,2", ranks=4)
    assert long_solve.report("resumed")["checkpoint"]["resumed_iterations"] > 0
    long_solve.assert_same("resumed")


def test_sigusr1_writes_a_checkpoint_and_the_solve_goes_on(long_solve):
    job = long_solve.start("asked", "--checkpoint", long_solve.checkpoint, "--checkpoint-every", 1000)
    while job.poll() is None and not long_solve.checkpoint.exists():
        try:
            if b"SigCgt" in Path(f"/proc/{job.pid}/status").read_bytes() and watches_signals(job.pid):
                job.send_signal(signal.SIGUSR1)
        except OSError:
            break
        time.sleep(0.05)
    job.communicate(timeout=180)
    assert job.returncode == 0
    assert long_solve.report("asked")["checkpoint"]["written"] >= 1
    long_solve.assert_same("asked")


def watches_signals(process) -> bool:
    line = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(line.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1)


@pytest.fixture
def kept(staghorn, launch, small_gauge, tmp_path):
    """A small solve that has left its last two states behind."""
    solves = Solves(staghorn, launch, tmp_path, small_gauge, ["--sloppy", "none", "--mass", 0.05, "--color", 0])
    solves.run("plain", *solves.with_checkpoint())
    assert Path(f"{solves.checkpoint}.1").exists()
    return solves


@pytest.mark.parametrize("options, words", [
    (["--mass", 0.06, "--color", 0], ["mass", "expected 0.06", "found 0.05"]),
    (["--mass", 0.05, "--color", 0, "--tolerance", 1e-9], ["tolerance", "expected 1e-09", "found 1e-10"]),
    (["--mass", 0.05, "--color", 1], ["sources_hash: expected"]),
    (["--mass", 0.05], ["sources_hash: expected"]),
    (["--mass", 0.05, "--color", 0, "--boundary", "periodic,periodic,periodic,periodic"], ["boundary: expected periodic"]),
    (["--mass", 0.05, "--color", 0, "--sloppy", "fp32"], ["numbers: expected fp64/fp32", "found fp64, 18 reals a link"]),
    (["--mass", 0.05, "--color", 0, "--links", 12], ["links_hash: expected"]),  # of projected links
    (["--mass", 0.05, "--color", 0, "--solver", "block"], ["solver: expected block", "found cg"]),
    (["--masses", "0.05,0.1", "--color", 0], ["masses: expected 0.05,0.1", "found none"]),
])
def test_state_of_another_solve_is_refused(kept, expect_error, options, words):
    kept.options = [*kept.options[:3], *options, *([] if "--sloppy" in options else ["--sloppy", "none"])]
    expect_error(kept.run("other", *kept.with_checkpoint("--resume"), check=False), 1, f"checkpoint {kept.checkpoint}", *words)


def test_state_on_other_links_is_refused(kept, expect_error, rough_gauge):
    kept.options[2] = rough_gauge
    expect_error(kept.run("other", *kept.with_checkpoint("--resume"), check=False), 1, "links_hash: expected")


@pytest.mark.parametrize("damage", ["truncated", "flipped", "number", "empty", "absent"])
def test_damaged_state_is_noticed_and_the_one_before_used(kept, damage):
    whole = kept.checkpoint.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 4
    if damage == "absent":
        kept.checkpoint.unlink()
    elif damage == "number":  # in a file that is sound: HDF5 has checksums of its own
        with h5py.File(kept.checkpoint, "r+") as file:
            attributes = file["checkpoint"].attrs
            state = bytearray(bytes(attributes["state_000000"]))
            place = state.index(b'"r2":"') + 20  # the last digits of a double
            assert chr(state[place]) in "0123456789abcdef"
            state[place] = ord("1" if state[place] != ord("1") else "2")
            attributes["state_000000"] = np.bytes_(bytes(state))
    else:
        kept.checkpoint.write_bytes({"truncated": whole[:-100], "flipped": flipped, "empty": b""}[damage])
    result = kept.run("resumed", *kept.with_checkpoint("--resume"))
    checkpoint = kept.report("resumed")["checkpoint"]
    assert checkpoint["resumed_from"] == f"{kept.checkpoint}.1"
    assert len(checkpoint["notes"]) == (damage != "absent")
    assert damage == "absent" or (str(kept.checkpoint) in checkpoint["notes"][0] and "warning: " in result.stdout)
    kept.assert_same("resumed")


@pytest.mark.parametrize("version, found", [(None, "1"), ("3", "3")])
def test_state_of_another_version_is_refused_by_name(kept, expect_error, version, found):
    """The one before it is not used in its place: it is of that version too."""
    with h5py.File(kept.checkpoint, "r+") as file:
        attributes = file["checkpoint"].attrs
        assert bytes(attributes["checkpoint_version"]).strip() == b"2"
        del attributes["checkpoint_version"]
        if version:
            attributes["checkpoint_version"] = np.bytes_(version)
    expect_error(kept.run("resumed", *kept.with_checkpoint("--resume"), check=False), 1,
                 f"checkpoint {kept.checkpoint}: checkpoint_version: expected 2, found {found}: finish the solve with the Staghorn")


def test_a_damaged_state_does_not_take_the_place_of_the_whole_one_before(long_solve):
    """A job that is killed just after it went on must find a whole state, whatever becomes of the newest."""
    before = Path(f"{long_solve.checkpoint}.1")
    job = long_solve.start("ended", *long_solve.with_checkpoint())
    wait_for(before, job)
    job.terminate()
    job.communicate(timeout=180)
    assert job.returncode == 5
    whole = before.read_bytes()
    long_solve.checkpoint.write_bytes(long_solve.checkpoint.read_bytes()[:-100])
    job = long_solve.start("ended", "--checkpoint", long_solve.checkpoint, "--checkpoint-every", 1000, "--resume")
    while not watches_signals(job.pid):
        time.sleep(0.002)
    job.terminate()  # it writes one state
    job.communicate(timeout=180)
    assert job.returncode == 5 and before.read_bytes() == whole
    long_solve.checkpoint.write_bytes(b"")
    long_solve.run("resumed", *long_solve.with_checkpoint("--resume"))
    assert long_solve.report("resumed")["checkpoint"]["resumed_from"] == str(before)
    long_solve.assert_same("resumed")


KILLER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int rename(const char* from, const char* to) {
  static int count;
  const char* const name = strrchr(to, '/');
  if (name && (strcmp(name, "/state.h5") == 0 || strcmp(name, "/state.h5.1") == 0) && ++count == atoi(getenv("KILL_AT"))) raise(SIGKILL);
  return ((int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


@pytest.mark.parametrize("rename", [5, 6])  # each state takes two; these are those of the third
def test_a_job_killed_while_a_state_gets_its_name_leaves_two_files(kept, rename):
    """What damages one of the two states must leave the other whole: they are never two names of one file."""
    folder, before = kept.folder, Path(f"{kept.checkpoint}.1")
    for path in folder.glob("state.h5*"):
        path.unlink()
    (folder / "killer.c").write_text(KILLER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "killer.so", folder / "killer.c", "-ldl"], check=True)
    killed = kept.staghorn(*kept.options, *kept.files("killed"), *kept.with_checkpoint(),
                           env=DATE | {"LD_PRELOAD": str(folder / "killer.so"), "KILL_AT": str(rename)})
    assert killed.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert not os.path.samefile(kept.checkpoint, before)
    kept.checkpoint.write_bytes(kept.checkpoint.read_bytes()[:-100])
    kept.run("resumed", *kept.with_checkpoint("--resume"))
    assert kept.report("resumed")["checkpoint"]["resumed_from"] == str(before)
    kept.assert_same("resumed")


def test_nothing_goes_on_from_two_damaged_states(kept, expect_error):
    for path in (kept.checkpoint, Path(f"{kept.checkpoint}.1")):
        path.write_bytes(path.read_bytes()[:5000])
    expect_error(kept.run("resumed", *kept.with_checkpoint("--resume"), check=False), 1, "no checkpoint can be used")


def test_resume_begins_where_there_is_no_state(kept):
    for path in kept.folder.glob("state.h5*"):
        path.unlink()
    kept.run("begun", *kept.with_checkpoint("--resume"))
    assert kept.report("begun")["checkpoint"]["resumed_from"] is None
    kept.assert_same("begun")


@pytest.mark.parametrize("options, words", [
    (["--resume"], ["--resume: expected a --checkpoint to go on from"]),
    (["--checkpoint", "state.h5", "--checkpoint-every", "-1"], ["--checkpoint-every: expected seconds"]),
    (["--checkpoint", "no/such/folder/state.h5"], ["no/such/folder"]),
])
def test_options_that_make_no_sense_are_refused(solve, expect_error, options, words):
    expect_error(solve(*options), 1, *words)


def test_a_state_is_not_overwritten_unless_the_solve_goes_on_from_it(kept, expect_error):
    expect_error(kept.run("again", *kept.with_checkpoint(), check=False), 1, "exists already; --resume goes on from it")


def test_python_keeps_and_resumes(small_gauge, tmp_path):
    import staghorn

    session = staghorn.Session(small_gauge, sloppy="fp32")
    plain, report = session.solve(0.05, "z2:4")
    kept, _ = session.solve(0.05, "z2:4", checkpoint=tmp_path / "state.h5", checkpoint_every=0)
    resumed, again = staghorn.Session(small_gauge, sloppy="fp32", loopback="y").solve(
        0.05, "z2:4", checkpoint=tmp_path / "state.h5", resume=True)
    assert again["checkpoint"]["resumed_from"] == str(tmp_path / "state.h5")
    assert plain.tobytes() == kept.tobytes() == resumed.tobytes() and report["rhs"] == again["rhs"]
