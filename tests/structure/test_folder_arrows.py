"""Who may include whom: halo <- dirac <- lattice_io <- solver <- python, tests; between subfolders one way too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["halo", "dirac", "lattice_io", "solver", "python"]  # each may include itself and those before it
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
CODE = {".hpp", ".h", ".cpp", ".cu", ".cuh"}


def sources(folder: str) -> list[Path]:
    found = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in CODE]
    assert found, f"{folder}/ holds no source"
    return found


def includes(folder: str) -> list[tuple[str, str]]:
    """(file, included file) of all sources below `folder`, from the root."""
    return [(str(path.relative_to(ROOT)), name) for path in sources(folder) for name in INCLUDE.findall(path.read_text())]


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_includes_only_itself_and_those_before_it(folder):
    allowed = FOLDERS[: FOLDERS.index(folder) + 1]
    assert not [f"{file} includes {name}" for file, name in includes(folder) if name.split("/")[0] not in allowed]


@pytest.mark.parametrize("folder", FOLDERS)
def test_includes_name_existing_files_from_the_root(folder):
    assert not [f"{file} includes {name}" for file, name in includes(folder) if not (ROOT / name).is_file()]


def folder_of(file: str) -> str:
    return str(Path(file).parent)


def rounds(arrows: dict[tuple[str, str], str]) -> list[str]:
    """The arrows that lie on a cycle, each with an include that makes it."""
    def reached(start: str) -> set[str]:
        seen, left = set(), [start]
        while left:
            here = left.pop()
            new = {to for (of, to) in arrows if of == here} - seen
            seen |= new
            left += new
        return seen

    return [f"{of} -> {to}: {example}" for (of, to), example in arrows.items() if of in reached(to)]


def test_arrows_between_subfolders_go_one_way():
    arrows = {(folder_of(file), folder_of(name)): f"{file} includes {name}"
              for folder in FOLDERS for file, name in includes(folder) if folder_of(file) != folder_of(name)}
    assert len({of for of, _ in arrows}) > 15, "the subfolders were not seen"
    assert not rounds(arrows)


def test_a_cycle_of_folders_is_seen():
    assert len(rounds({("a", "b"): "1", ("b", "c"): "2", ("c", "a"): "3", ("a", "d"): "4"})) == 3
