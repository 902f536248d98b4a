"""Who may include and call whom: halo <- dirac <- lattice_io <- solver <- python, tests; between subfolders one way too."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
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


def objects_of(build: Path) -> dict[str, list[Path]]:
    """Subfolder -> what its sources became in a build. With folders compiled as one, a source includes those of its folder."""
    found: dict[str, list[Path]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words, source = shlex.split(entry["command"]), Path(entry["file"])
        if "together" in source.parts:
            source = Path(INCLUDE.findall(source.read_text())[0])
        if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in FOLDERS:
            found.setdefault(folder_of(str(source.relative_to(ROOT))), []).append(Path(entry["directory"]) / words[words.index("-o") + 1])
    return found


def symbols(objects: list[Path], kinds: str) -> set[str]:
    """Of functions and variables of these kinds, as nm has them: T, D, B, R are defined for others, U is needed of others."""
    output = subprocess.run(["nm", "--extern-only", "--format=posix", *objects], capture_output=True, text=True, check=True).stdout
    return {words[0] for words in map(str.split, output.splitlines()) if len(words) > 1 and words[1] in kinds}


def test_calls_between_subfolders_go_one_way(program):
    if not (program.parent / "compile_commands.json").is_file():
        pytest.skip("the program is not in its build folder")
    objects = objects_of(program.parent)
    assert len(objects) > 30, "the objects were not seen"
    home = {name: folder for folder, paths in objects.items() for name in symbols(paths, "TDBR")}
    arrows = {(folder, home[name]): f"{folder} needs {name}" for folder, paths in objects.items()
              for name in symbols(paths, "U") if home.get(name, folder) != folder}
    assert len(arrows) > 100 and not rounds(arrows)
    order = {folder: k for k, folder in enumerate(FOLDERS)}
    assert not [words for (of, to), words in arrows.items() if order[of.split("/")[0]] < order[to.split("/")[0]]]
