"""Who may include whom: halo <- dirac <- lattice_io <- solver <- python, tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["halo", "dirac", "lattice_io", "solver", "python"]  # each may include itself and those before it
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in {".hpp", ".h", ".cpp", ".cu", ".cuh"}]


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_includes_only_itself_and_those_before_it(folder):
    allowed = FOLDERS[: FOLDERS.index(folder) + 1]
    wrong = [f"{path.relative_to(ROOT)} includes {name}" for path in sources(folder)
             for name in INCLUDE.findall(path.read_text()) if name.split("/")[0] not in allowed]
    assert not wrong


@pytest.mark.parametrize("folder", FOLDERS)
def test_includes_name_existing_files_from_the_root(folder):
    wrong = [f"{path.relative_to(ROOT)} includes {name}" for path in sources(folder)
             for name in INCLUDE.findall(path.read_text()) if not (ROOT / name).is_file()]
    assert not wrong
