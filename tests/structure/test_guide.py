"""The commands of docs/guide/ run as they stand, from an empty folder, and the examples for Slurm are right in their syntax."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from launcher import OPEN_MPI, launcher_of
from program_under_test import PROGRAM, ROOT, built_with_mpi

PAGES = sorted((ROOT / "docs/guide").glob("*.md"))
SNIPPETS = {path.name: re.findall(r"```sh\n(.*?)```", path.read_text(), re.DOTALL) for path in PAGES}


@pytest.mark.parametrize("page", [page for page, blocks in SNIPPETS.items() if blocks])
def test_commands_of_the_guide_run(page, tmp_path):
    if "mpirun" in "".join(SNIPPETS[page]) and (not built_with_mpi() or launcher_of() is not OPEN_MPI):
        pytest.skip("the page shows commands of Open MPI's mpirun")
    if "python -c" in "".join(SNIPPETS[page]) and not (PROGRAM.parent / "python" / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    (tmp_path / "empty").mkdir()
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "PYTHONPATH": str(PROGRAM.parent / "python"), **OPEN_MPI.variables}
    commands = f'python() {{ {sys.executable} "$@"; }}\n' + "\n".join(SNIPPETS[page])
    result = subprocess.run(["bash", "-euxc", commands], cwd=tmp_path / "empty", env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "staghorn" in result.stdout


def test_most_pages_show_commands():
    assert sum(bool(blocks) for blocks in SNIPPETS.values()) >= 4


@pytest.mark.parametrize("script", sorted((ROOT / "configs").glob("*.slurm")), ids=lambda path: path.stem)
def test_slurm_examples_are_scripts(script):
    assert subprocess.run(["bash", "-n", script], capture_output=True).returncode == 0
    assert "#SBATCH --job-name=" in script.read_text()
