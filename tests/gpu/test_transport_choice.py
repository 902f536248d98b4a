"""Transports between GPUs: the fastest is taken, one that fails its test is left out with a warning."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.gpu


@pytest.fixture
def solved(staghorn, small_gauge, tmp_path):
    """solved(*options, env) -> report of two ranks with GPUs, and what was printed."""

    def run(*options, env=None):
        report = tmp_path / "report.json"
        result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.3, "--tolerance", 1e-6, "--device", "cuda",
                          "--report", report, "--force", *options, ranks=2, env=env, check=True)
        return json.loads(report.read_text()), result.stdout

    return run


def test_the_fastest_is_taken(solved):
    report, stdout = solved()
    found = report["transports"]
    timed = {trial["name"]: trial["seconds"] for trial in found["tried"] if trial["left_out"] is None}
    assert {"staged", "mapped"} <= timed.keys()
    assert report["transport"] == found["chosen"] == min(timed, key=timed.get)
    assert f"transport {found['chosen']}, the fastest: " in stdout and "warning" not in stdout
    assert all(trial["left_out"] for trial in found["tried"] if trial["name"] not in timed)


def test_one_that_fails_its_test_is_left_out_with_a_warning(solved):
    best = solved()[0]["transport"]
    report, stdout = solved(env={"STAGHORN_CORRUPT_TRANSPORT": best})
    assert report["transport"] not in ("", best)
    (trial,) = [trial for trial in report["transports"]["tried"] if trial["name"] == best]
    assert trial["failed"] and "is wrong in round" in trial["left_out"]
    assert f"warning: transport {best} failed its test and is left out: " in stdout


@pytest.mark.parametrize("name", ["staged", "mapped"])
def test_a_name_forces_one(solved, name):
    report, _ = solved("--transport", name)
    assert report["transport"] == report["transports"]["chosen"] == name
    assert report["transports"]["reason"] == "asked for"
