"""Every command line and the Python program that README.md shows run, and print what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from launcher import OPEN_MPI, launcher_of

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
LINES = [line for language, text in BLOCKS if not language for line in text.replace("\\\n", " ").splitlines()]
COMMANDS = [line.split("  #")[0].strip() for line in LINES if re.match(r"(\./dev|cmake)\b", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that looks like the root of the project to the commands."""
    place = tmp_path_factory.mktemp("readme")
    (place / "configs").symlink_to(ROOT / "configs")
    return place


SHELL = next(text for language, text in BLOCKS if language == "sh")


def run_shell(block: str, folder: Path, program: Path, **environment: str) -> str:
    if launcher_of() is not OPEN_MPI:
        pytest.skip("the page shows commands of Open MPI's mpirun")
    done = subprocess.run(["bash", "-euc", block], cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **OPEN_MPI.variables, "PATH": f"{program.parent}:{os.environ['PATH']}", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.mpi
def test_commands_of_the_program_run_and_print_what_is_shown(folder, program):
    printed = run_shell(SHELL, folder, program)
    assert SHELL.count("staghorn solve") == 2 and "cmp propagator.h5 again.h5" in SHELL
    shown = next(text for language, text in BLOCKS if "CERTIFICATE" in text)
    for line in shown.strip().splitlines():
        assert line in printed, line
    with h5py.File(folder / "propagator.h5") as one, h5py.File(folder / "again.h5") as four:
        assert one["solution"][()].tobytes() == four["solution"][()].tobytes()


@pytest.mark.mpi
def test_commands_of_the_program_run_from_an_empty_folder(tmp_path, program):
    """As after `pip install .`: the package says where its configuration is."""
    if not (program.parent / "python" / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    elsewhere = f"gauge=$({sys.executable} -c 'import staghorn; print(staghorn.example_gauge())')"
    block, n = re.subn(r"^gauge=.*$", lambda _: elsewhere, SHELL, flags=re.MULTILINE)
    assert n == 1 and "CERTIFICATE  certified" in run_shell(block, tmp_path, program, PYTHONPATH=str(program.parent / "python"))


def test_python_program_runs(tmp_path, program):
    if not (program.parent / "python" / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    source = next(text for language, text in BLOCKS if language == "python")
    environment = {**os.environ, "PYTHONPATH": str(program.parent / "python")}
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True)
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
    sources = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])
    options = set(re.findall(r"-D(STAGHORN_\w+)", README))
    assert options and not [option for option in options if not re.search(rf"(option|set)\({option} ", sources)]
    if shutil.which("cmake"):
        subprocess.run(["cmake", "--list-presets"], cwd=ROOT, check=True, capture_output=True)


def test_options_in_the_table_are_those_of_solve(staghorn):
    offered = staghorn("solve", "--help", check=True).stdout
    table = README[README.index("`--gauge FILE`"):README.index("`mpirun -n N`")]
    named = set(re.findall(r"`(--[\w-]+)", table))
    assert len(named) > 14 and not [option for option in named if option not in offered]
