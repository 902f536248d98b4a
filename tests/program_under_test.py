"""Which program is under test: STAGHORN_PROGRAM, or build/staghorn."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("STAGHORN_PROGRAM", ROOT / "build" / "staghorn")).resolve()


def built_program(name: str) -> Path:
    """Where the build leaves another program: beside the one under test."""
    return PROGRAM.parent / name
