"""What `cmake --install` leaves can be used by another CMake project: the program of docs/library.md."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "library.md"

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
add_executable(your_code main.cpp)
"""


def block(language: str) -> str:
    """The first block of code in `language`."""
    return re.search(rf"```{language}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]


def run(*command, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **environment)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def installed(program, tmp_path_factory):
    build, prefix = program.parent, tmp_path_factory.mktemp("prefix")
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on this machine")
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip(f"{build} is not a build folder")
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def your_code(program, installed, tmp_path_factory):
    source = tmp_path_factory.mktemp("consumer")
    (source / "CMakeLists.txt").write_text(PROJECT + block("cmake"))
    (source / "main.cpp").write_text(block("cpp"))
    cache = (program.parent / "CMakeCache.txt").read_text()
    compiler = next(line.split("=", 1)[1] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER:"))
    run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", source / "build")
    return source / "build" / "your_code"


@pytest.mark.slow
def test_installed_program_runs(installed):
    assert "staghorn" in run(installed / "bin" / "staghorn", "--version")


@pytest.mark.slow
@pytest.mark.mpi
def test_program_of_the_documentation_solves_alike_on_one_rank_and_on_two(your_code, run_built):
    alone, together = (run_built(your_code, ranks=ranks) for ranks in (1, 2))
    assert alone.returncode == 0, alone.stderr
    assert re.findall(r"mass (\S+): (\w+)", alone.stdout) == [("0.5", "certified"), ("0.2", "certified")]
    assert together.stdout == alone.stdout, together.stderr
