"""Threads that wait for each other sleep after a short spin, so that a busy machine does not slow two threads below one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program_under_test import ROOT

SHORT_SPIN = "1000"
CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS")


def environment(**extra) -> dict:
    """That of a user who has chosen nothing about threads, and `extra`; OpenMP prints what it has read."""
    return {**{name: value for name, value in os.environ.items() if name not in CHOICES}, "OMP_DISPLAY_ENV": "verbose",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **extra}


def spin_counts(command, **extra) -> list[str]:
    """What OpenMP read, once for each time it was loaded."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120,
                            env=environment(**extra))
    assert result.returncode == 0, result.stderr
    return re.findall(r"GOMP_SPINCOUNT = '(\w+)'", result.stderr)


def test_the_program_shortens_the_spin_once(program):
    first, second = spin_counts([program, "--version"])
    assert int(first) > int(second) == int(SHORT_SPIN)


@pytest.mark.mpi
def test_every_rank_shortens_the_spin(program):
    counts = spin_counts(["mpirun", "-n", 2, "--oversubscribe", "--bind-to", "none", program, "--version"])
    assert len(counts) == 4 and counts.count(SHORT_SPIN) == 2


@pytest.mark.parametrize("chosen, spin", [({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "passive"}, "0"),
                                          ({"OMP_NUM_THREADS": "1"}, None)])
def test_the_choice_of_the_user_stays(program, chosen, spin):
    counts = spin_counts([program, "--version"], **chosen)
    assert len(counts) == 1 and counts[0] != SHORT_SPIN and spin in (None, counts[0])


@pytest.mark.parametrize("use", ["version", "Context"])  # a compiled module each
def test_the_python_module_shortens_the_spin(program, use):
    pytest.importorskip("numpy")
    code = f"import os, staghorn; staghorn.{use}; assert 'GOMP_SPINCOUNT' not in os.environ"
    counts = spin_counts([sys.executable, "-c", code], PYTHONPATH=str(Path(program).parent / "python"))
    assert counts == [SHORT_SPIN]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two threads need two cores")
@pytest.mark.alone
def test_two_threads_are_not_far_slower_than_one_on_a_busy_machine(program, tmp_path):
    """A busy process for each core. Threads that spin for milliseconds take more than ten times as long as one thread."""

    def seconds(threads: int) -> float:
        path = tmp_path / f"{threads}.json"
        command = [program, "solve", "--gauge", ROOT / "configs/quenched_8x8x8x16_b5.70.nersc", "--mass", 0.05, "--source",
                   "point:0,0,0,0", "--color", 0, "--device", "cpu", "--report", path, "--force"]
        subprocess.run([str(word) for word in command], check=True, capture_output=True, timeout=280,
                       env=environment(OMP_NUM_THREADS=str(threads)))
        report = json.loads(path.read_text())
        assert report["threads"] == threads and report["outcome"] == "certified"
        return report["seconds"]["solve"]

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        pairs = [(seconds(1), seconds(2)) for _ in range(2)]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    one, two = (min(times) for times in zip(*pairs))
    assert two < 2.5 * one + 0.2, pairs
