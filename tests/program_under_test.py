"""Which program is under test: STAGHORN_PROGRAM, or build/staghorn."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("STAGHORN_PROGRAM", ROOT / "build" / "staghorn")).resolve()

# For a process whose memory is watched: a sanitizer keeps what is freed, unless it is told not to.
FREED_AT_ONCE = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0"}


def built_program(name: str) -> Path:
    """Where the build leaves another program: beside the one under test."""
    return PROGRAM.parent / name


@cache
def built_with_mpi() -> bool:
    """Whether it is for several processes."""
    return not PROGRAM.is_file() or "no MPI" not in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
