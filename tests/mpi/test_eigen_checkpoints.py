"""A search for eigenpairs that ends by a signal, is killed or runs out of calls goes on from its checkpoint with no bit changed."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

DATE = {"SOURCE_DATE_EPOCH": "1795199983"}  # files of equal searches are equal to the byte
SAME = ["outcome", "eigenvalues", "residuals", "calls", "filtered_vectors", "restarts", "random_vectors", "polynomial", "probe",
        "largest_eigenvalue", "certificate"]


class Search:
    """Searches for the same pairs in a folder."""

    def __init__(self, staghorn, launch, folder, gauge, *options):
        self.staghorn, self.launch, self.folder = staghorn, launch, folder
        self.options = ["eigen", "--gauge", gauge, *options]
        self.state = folder / "state.h5"

    def files(self, name):
        return ["--output", self.folder / f"{name}.h5", "--report", self.folder / f"{name}.json", "--force"]

    def keep(self, *more):
        return ["--checkpoint", self.state, "--checkpoint-every", 0, "--keep-checkpoint", *more]

    def run(self, name, *more, check=True, **where):
        return self.staghorn(*self.options, *self.files(name), *more, check=check, env=DATE, **where)

    def end(self, name, which, *more, after=0.0):
        """Starts a search, sends a signal so long after its next state, and returns its exit status and what it said."""
        before = self.state.stat().st_mtime_ns if self.state.exists() else None
        job = self.launch(*self.options, *self.files(name), *self.keep(*more), "--quiet", ranks=1, env=DATE)
        while job.poll() is None and (not self.state.exists() or self.state.stat().st_mtime_ns == before):
            time.sleep(0.002)
        time.sleep(after)
        job.send_signal(which)
        _, stderr = job.communicate(timeout=180)
        return job.returncode, stderr

    def report(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def assert_same(self, name, expected="plain"):
        found, wanted = self.report(name), self.report(expected)
        for entry in SAME:
            assert found[entry] == wanted[entry], entry
        assert (self.folder / f"{name}.h5").read_bytes() == (self.folder / f"{expected}.h5").read_bytes()


@pytest.fixture
def search(staghorn, launch, tmp_path, rough_gauge, request):
    made = Search(staghorn, launch, tmp_path, rough_gauge, "--pairs", getattr(request, "param", 12))
    made.run("plain")
    return made


def test_search_that_is_ended_or_killed_goes_on_elsewhere(search):
    status, stderr = search.end("ended", signal.SIGTERM)
    assert status == 5 and "ended by a signal after" in stderr and "operator calls; --resume goes on from" in stderr
    assert not (search.folder / "ended.h5").exists() and not (search.folder / "ended.json").exists()
    status, _ = search.end("ended", signal.SIGKILL, "--resume", after=0.1)
    assert status == -9, "the search was over before it was killed"
    result = search.run("ended", *search.keep("--resume"), "--loopback", "xt", threads=2)
    checkpoint = search.report("ended")["checkpoint"]
    assert checkpoint["resumed_from"].startswith(str(search.state)) and checkpoint["resumed_calls"] > 0
    assert f"after {checkpoint['resumed_calls']} operator calls" in result.stdout
    search.assert_same("ended")
    # The last state is one of the probe for missing pairs.
    search.run("probed", *search.keep("--resume"))
    assert search.report("probed")["checkpoint"]["resumed_calls"] > 0.8 * search.report("plain")["calls"]
    search.assert_same("probed")


def test_search_goes_on_with_more_calls(search):
    search.run("few", *search.keep(), "--max-calls", 400, check=False)
    assert search.report("few")["outcome"] == "out_of_calls" and search.report("few")["checkpoint"]["written"] > 1
    search.run("more", *search.keep("--resume"))
    assert search.report("more")["checkpoint"]["resumed_calls"] > 300
    search.assert_same("more")


def test_search_of_missing_and_widened_pairs_goes_on(staghorn, launch, tmp_path):
    """Free links, where each eigenvalue comes many times: the probe finds pairs, and begins anew."""
    gauge = tmp_path / "free.h5"
    staghorn("generate", "--lattice", 4, 4, 4, 8, "--start", "cold", "--sweeps", 0, "--beta", 5, "--output", gauge, check=True)
    search = Search(staghorn, launch, tmp_path, gauge, "--pairs", 20)
    search.run("plain")
    assert search.report("plain")["probe"]["found_missing"] > 0
    search.run("kept", *search.keep())
    search.assert_same("kept")
    states = Path(f"{search.state}.1").read_bytes()
    search.state.write_bytes(states)
    search.run("resumed", *search.keep("--resume"), "--loopback", "z")
    search.assert_same("resumed")


@pytest.mark.mpi
@pytest.mark.parametrize("search", [12, 130], indirect=True)
def test_state_of_one_rank_goes_on_on_two(search):
    assert search.report("plain")["block"] == (2 if search.report("plain")["pairs"] == 130 else 1)
    assert search.end("x", signal.SIGTERM)[0] == 5
    search.run("x", *search.keep("--resume"), "--grid", "1,1,2,1", ranks=2)
    assert search.report("x")["checkpoint"]["resumed_calls"] > 0
    search.assert_same("x")


@pytest.mark.parametrize("options, words", [
    (["--pairs", 13], ["pairs: expected 13", "found 12"]),
    (["--tolerance", 1e-9], ["tolerance: expected 1e-09"]),
    (["--boundary", "periodic,periodic,periodic,periodic"], ["boundary: expected periodic"]),
    (["--action", "hisq"], ["action: expected hisq"]),
])
def test_state_of_another_search_is_refused(staghorn, launch, tmp_path, rough_gauge, expect_error, options, words):
    search = Search(staghorn, launch, tmp_path, rough_gauge)
    search.run("few", *search.keep(), "--pairs", 12, "--max-calls", 300, check=False)
    options = options if "--pairs" in options else ["--pairs", 12, *options]
    expect_error(search.run("x", *search.keep("--resume"), *options, check=False), 1, f"checkpoint {search.state}", *words)


def test_options_that_make_no_sense_are_refused(search, expect_error):
    expect_error(search.run("x", "--resume", check=False), 1, "--resume: expected a --checkpoint to go on from")
    search.run("few", *search.keep(), "--max-calls", 300, check=False)
    expect_error(search.run("x", *search.keep(), check=False), 1, "exists already; --resume goes on from it")
    expect_error(search.run("x", "--checkpoint", search.folder / "x.h5", check=False), 2, "--checkpoint: expected a file of its own")


def test_python_keeps_and_resumes(rough_gauge, tmp_path):
    import staghorn

    session = staghorn.Session(rough_gauge)
    values, vectors, _ = session.eigen(6)
    session.eigen(6, checkpoint=tmp_path / "state.h5", checkpoint_every=0, max_calls=400)
    again, same, report = session.eigen(6, checkpoint=tmp_path / "state.h5", resume=True)
    assert report["checkpoint"]["resumed_calls"] > 0
    assert values.tobytes() == again.tobytes() and vectors.tobytes() == same.tobytes()
