"""The mutations of `./dev mutate` still fit the sources, and tests/README.md lists them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_mutation_finds_its_text_once_and_stands_in_the_readme():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run([sys.executable, ROOT / "tests" / "mutations.py", "--list"], capture_output=True, text=True)
    assert listed.returncode == 0, listed.stderr
    lines = listed.stdout.splitlines()
    assert len(lines) >= 10
    readme = (ROOT / "tests" / "README.md").read_text().splitlines()
    assert not [line for line in lines if line not in readme], "./dev mutate --list prints the table"


def test_every_test_that_guards_a_mutation_exists():
    pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
    from mutations import MUTATIONS

    names = sorted({test for mutation in MUTATIONS for test in mutation.tests})
    found = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *names], cwd=ROOT,
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
