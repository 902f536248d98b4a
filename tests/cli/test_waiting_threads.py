"""Threads that wait for each other sleep after a short spin, so that a busy machine does not slow two threads below one: what OpenMP
reads says so. `./dev measure --compare` has the times."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import launcher_of, ranks_command

SHORT_SPIN = "1000"
CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS")


def environment(**extra) -> dict:
    """That of a user who has chosen nothing about threads, and `extra`; OpenMP prints what it has read."""
    return {**{name: value for name, value in os.environ.items() if name not in CHOICES}, "OMP_DISPLAY_ENV": "verbose",
            **launcher_of().variables, **extra}


def spin_counts(command, **extra) -> list[str]:
    """What OpenMP read, once for each time it was loaded."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=180,
                            env=environment(**extra))
    assert result.returncode == 0, result.stderr
    return re.findall(r"GOMP_SPINCOUNT = '(\w+)'", result.stderr)


def test_the_program_shortens_the_spin_once(program):
    first, second = spin_counts([program, "--version"])
    assert int(first) > int(second) == int(SHORT_SPIN)


@pytest.mark.mpi
def test_every_rank_shortens_the_spin(program):
    counts = spin_counts([*ranks_command(2), program, "--version"])
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
