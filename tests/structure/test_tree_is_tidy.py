"""What makes the tree pleasant to inherit: a README in every folder, names that say something, formatted sources."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["halo", "dirac", "lattice_io", "solver", "configs", "python", "tests"]
CODE = ["halo", "dirac", "lattice_io", "solver", "python"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_has_a_readme_that_lists_its_files(folder):
    text = (ROOT / folder / "README.md").read_text()
    # A family name.{hpp,cpp} or name_* counts for its members.
    missing = [path.name for path in sorted((ROOT / folder).iterdir())
               if path.suffix in {".hpp", ".cpp", ".cu", ".py", ".ini"} and path.stem not in text]
    assert not missing, f"{folder}/README.md does not mention {missing}"


def test_nothing_is_called_by_an_empty_name():
    empty = re.compile(r"util|helper|misc|manager", re.IGNORECASE)
    assert not [path for folder in [*CODE, "tests"] for path in (ROOT / folder).rglob("*") if empty.search(path.name)]


def clang_format_version() -> str:
    if shutil.which("clang-format") is None:
        return ""
    text = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    return re.search(r"version (\d+)", text).group(1)


# Other versions break some lines otherwise.
@pytest.mark.skipif(clang_format_version() != "14", reason="clang-format 14 is not on this machine")
def test_sources_are_formatted():
    sources = [path for folder in CODE for path in (ROOT / folder).rglob("*") if path.suffix in {".hpp", ".cpp", ".cu"}]
    result = subprocess.run(["clang-format", "--dry-run", "--Werror", *sources], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:2000]
