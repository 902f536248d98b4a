"""Python in processes of its own, with the package as built; and as ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import staghorn
from launcher import launcher_of, ranks_command
from program_under_test import built_with_mpi

PACKAGE = str(Path(staghorn.__file__).parent.parent)


def python(*arguments, ranks=1, timeout=180, env=None) -> str:
    """What a Python process, or several of them, print with the package at hand; they must succeed."""
    environment = {**os.environ, **launcher_of().variables, "PYTHONPATH": PACKAGE, **(env or {})}
    result = subprocess.run([*ranks_command(ranks), sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                            env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


needs_mpi4py = pytest.mark.skipif(not built_with_mpi() or subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True).returncode != 0,
                                  reason="mpi4py is not installed, or a build without MPI")
