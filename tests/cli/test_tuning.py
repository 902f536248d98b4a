"""Tuning of launches: an option of solve and bench, nothing on a CPU, nothing in any folder where it is off."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environment(home, tuning=""):
    return {"HOME": str(home), "XDG_CACHE_HOME": "", "STAGHORN_TUNING": tuning}


@pytest.mark.parametrize("options, tuning", [(("--tuning", "off"), "on"), ((), "off"), (("--device", "cpu"), "on"),
                                             (("--device", "cpu", "--tuning", "again"), "")])
def test_off_and_on_a_cpu_nothing_is_tuned_or_written(staghorn, small_gauge, tmp_path, home, options, tuning):
    report = tmp_path / "report.json"
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 1, "--color", 0, "--report", report, *options,
                      env=environment(home, tuning), check=True)
    found = json.loads(report.read_text())["tuning"]
    assert found == {"mode": "off", "tuned": 0, "remembered": 0, "seconds": 0, "file": None, "not_kept": None,
                     "launches": {"hop": {"tile": 16, "waves": 1}, "residual": {"tile": 16, "waves": 1},
                                  "direction": {"waves": 1}}}
    assert "tuned" not in result.stdout
    assert list(home.iterdir()) == []


def test_bench_reports_tuning(staghorn, tmp_path, home):
    figures = tmp_path / "bench.json"
    result = staghorn("bench", "hop", "--lattice", 4, 4, 4, 4, "--seconds", 0.01, "--precision", "fp64", "--links", 18,
                      "--stream-mib", 32, "--tuning", "off", "--json", figures, env=environment(home), check=True)
    (row,) = json.loads(figures.read_text())["results"]
    assert row["tuning"]["mode"] == "off" and "tuned" not in result.stdout
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("command", [("solve", "--gauge", "f", "--mass", 1), ("bench", "hop", "--lattice", 4, 4, 4, 4)])
def test_other_words_are_refused(staghorn, home, command):
    result = staghorn(*command, "--tuning", "maybe", env=environment(home))
    assert result.returncode == 2 and "--tuning" in result.stderr and "on, off or again" in result.stderr
    result = staghorn(*command, env=environment(home, "maybe"))
    assert result.returncode == 1 and "STAGHORN_TUNING" in result.stderr and "on, off or again" in result.stderr
