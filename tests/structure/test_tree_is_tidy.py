"""What makes the tree pleasant to inherit: a README in every folder, names that say something, formatted sources."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ["halo", "dirac", "lattice_io", "solver", "python"]
SOURCES = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".c"}
LARGEST_FOLDER = 25  # files


def tracked() -> list[Path]:
    """All files of the project, from its root. Skips where git does not know the tree (an archive of the sources)."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True)
    return [Path(name) for name in names.stdout.splitlines() if (ROOT / name).is_file()]


def folders() -> dict[Path, list[Path]]:
    """Folder -> its files, for every folder below the top ones."""
    found: dict[Path, list[Path]] = {}
    for path in tracked():
        if path.parts[0] in [*CODE, "configs", "tests", "docs"] and len(path.parts) > 1:
            found.setdefault(path.parent, []).append(path)
    return found


def test_every_folder_of_sources_has_a_readme_that_lists_its_files():
    missing, seen = [], 0
    for folder, files in folders().items():
        named = [path for path in files if path.suffix in SOURCES | {".py", ".ini"}]
        if not named or (folder.parts[0] == "tests" and len(folder.parts) > 1):  # tests/README.md lists its folders
            continue
        readme = ROOT / folder / "README.md"
        # The README of a package or of a folder without one of its own is that of the folder above.
        readme = readme if readme.is_file() else ROOT / folder.parent / "README.md"
        text = readme.read_text() if readme.is_file() else ""
        seen += 1
        missing += [str(path) for path in named if path.stem not in text]
    assert seen > 20, "the subfolders were not seen"
    assert not missing, f"not mentioned in the README of their folder: {missing}"


def test_every_subfolder_of_code_has_a_readme_of_its_own():
    assert not [str(folder) for folder, files in folders().items()
                if folder.parts[0] in CODE[:4] and not (ROOT / folder / "README.md").is_file()]


def test_the_readme_of_a_subfolder_begins_with_its_name():
    """As Markdown: one that a formatter of C++ has gone through begins otherwise."""
    subfolders = [folder for folder in folders() if folder.parts[0] in CODE[:4] and len(folder.parts) > 1]
    first = {str(folder): (ROOT / folder / "README.md").read_text().splitlines()[0] for folder in subfolders}
    wrong = {folder: line for folder, line in first.items() if line not in (f"# {folder}", f"# {folder.replace('/', '.')}") }
    assert len(first) > 20 and not wrong


def test_the_readme_of_a_layer_names_all_its_subfolders():
    missing = [str(folder) for folder in folders() if folder.parts[0] in CODE[:4] and len(folder.parts) > 1
               and f"({Path(*folder.parts[1:])}/README.md)" not in (ROOT / folder.parts[0] / "README.md").read_text()]
    assert not missing, f"no row in the README of their layer: {missing}"


def test_no_folder_is_overfull():
    assert not {str(folder): len(files) for folder, files in folders().items() if len(files) > LARGEST_FOLDER}


def test_the_repository_holds_texts_and_one_small_file_of_numbers():
    """No wheels, objects or programs: what is no text is the example configuration."""
    numbers = {str(path) for path in tracked() if b"\0" in (ROOT / path).read_bytes()[:65536]}
    assert numbers == {"configs/quenched_8x8x8x16_b5.70.nersc"}


def test_nothing_is_called_by_an_empty_name():
    empty = re.compile(r"util|helper|misc|manager", re.IGNORECASE)
    assert not [str(path) for path in tracked() if path.parts[0] in [*CODE, "tests"] and empty.search(path.name)]


def clang_format_version() -> str:
    if shutil.which("clang-format") is None:
        return ""
    text = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    return re.search(r"version (\d+)", text).group(1)


# Other versions break some lines otherwise.
@pytest.mark.skipif(clang_format_version() != "14", reason="clang-format 14 is not on this machine")
def test_sources_are_formatted():
    sources = [path for path in tracked() if path.suffix in SOURCES]
    result = subprocess.run(["clang-format", "--dry-run", "--Werror", *sources], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:2000]
