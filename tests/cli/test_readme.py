"""Every command line and the Python program that README.md shows run, and print what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
LINES = [line for language, text in BLOCKS if not language for line in text.replace("\\\n", " ").splitlines()]
COMMANDS = [line.split("  #")[0].strip() for line in LINES if re.match(r"(\./dev|build/staghorn|mpirun|cmake)\b", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that looks like the root of the project to the commands."""
    place = tmp_path_factory.mktemp("readme")
    (place / "configs").symlink_to(ROOT / "configs")
    return place


def words_of(command: str, start: str) -> list[str]:
    """The words of `command` after `start`."""
    words = shlex.split(command)
    return words[words.index(start) + 1:]


@pytest.fixture(scope="module")
def printed(staghorn, folder) -> list[tuple[str, str]]:
    """(command, output) of every command of the program, run one after the other."""
    found = []
    for command in COMMANDS:
        if "build/staghorn" in command:
            ranks = int(re.search(r"mpirun -n (\d+)", command)[1]) if command.startswith("mpirun") else 1
            found.append((command, staghorn(*words_of(command, "build/staghorn"), ranks=ranks, cwd=folder, check=True).stdout))
    return found


@pytest.mark.mpi
def test_commands_of_the_program_run_and_print_what_is_shown(printed, folder):
    assert len(printed) >= 3 and printed[-1][0].startswith("mpirun")
    shown = next(text for language, text in BLOCKS if "CERTIFICATE" in text)
    solve = next(output for command, output in printed if command.startswith("build/staghorn solve"))
    for line in shown.strip().splitlines():
        assert line in solve, line
    with h5py.File(folder / "propagator.h5") as one, h5py.File(folder / "again.h5") as four:
        assert one["solution"][()].tobytes() == four["solution"][()].tobytes()


def test_python_program_runs(folder, program):
    if not (program.parent / "python" / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    source = next(text for language, text in BLOCKS if language == "python")
    environment = {**os.environ, "PYTHONPATH": str(program.parent / "python")}
    done = subprocess.run([sys.executable, "-c", source], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("certified [") and "|b - M x| / |b|" in done.stdout


def test_commands_of_dev_are_those_that_it_offers():
    offered = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    commands = [command for command in COMMANDS if command.startswith("./dev")]
    commands += re.findall(r"`(\./dev \w+)`", README)
    assert {"./dev demo", "./dev test"} <= set(commands)
    assert not [command for command in commands if command not in offered]


def test_commands_of_cmake_name_presets_and_options_that_exist():
    presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    assert set(re.findall(r"--preset (\w+)", README)) <= presets
    sources = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").iterdir()])
    options = set(re.findall(r"-D(STAGHORN_\w+)", README))
    assert options and not [option for option in options if not re.search(rf"(option|set)\({option} ", sources)]
    if shutil.which("cmake"):
        subprocess.run(["cmake", "--list-presets"], cwd=ROOT, check=True, capture_output=True)


def test_options_in_the_table_are_those_of_solve(staghorn):
    offered = staghorn("solve", "--help", check=True).stdout
    table = README[README.index("`--gauge FILE`"):README.index("`mpirun -n N`")]
    named = set(re.findall(r"`(--[\w-]+)", table))
    assert len(named) > 15 and not [option for option in named if option not in offered]
