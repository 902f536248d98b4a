"""The C interface as installed, in another place: by CMake, by pkg-config, from Fortran, with a host's own flags."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from installed_package import block, run

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C)
add_executable(your_code main.c)
"""

# CMake looks for none of these: finding one would hide that the package asks for it.
WITHOUT = ["CUDAToolkit", "HDF5", "nlohmann_json", "MPI", "OpenMP", "ZLIB"]


def assert_solved(text: str):
    assert len(re.findall(r"mass 0\.[25]: solved, and checked, \|b - M x\| / \|b\| = \d\.\de-1\d after \d+ iterations", text)) == 2, text


@pytest.mark.slow
def test_program_of_the_documentation_by_cmake(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT + block("library-c.md", "cmake"))
    (tmp_path / "main.c").write_text(block("library-c.md", "c"))
    disabled = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in WITHOUT]
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}", *disabled)
    run("cmake", "--build", tmp_path / "build")
    assert_solved(run(tmp_path / "build" / "your_code"))


def pkg_config(installed, *options) -> list[str]:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config on this machine")
    folder = next(installed.rglob("staghorn.pc")).parent
    return run("pkg-config", *options, "staghorn", env={**os.environ, "PKG_CONFIG_PATH": str(folder)}).split()


def run_with(installed, path) -> str:
    folder = next(installed.rglob("libstaghorn.so")).parent
    return run(path, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})


@pytest.mark.slow
def test_program_of_the_documentation_by_pkg_config(installed, tmp_path):
    (tmp_path / "main.c").write_text(block("library-c.md", "c"))
    run("gcc", "-std=c99", "-O2", tmp_path / "main.c", "-o", tmp_path / "main", *pkg_config(installed, "--cflags", "--libs"))
    assert_solved(run_with(installed, tmp_path / "main"))


@pytest.mark.slow
def test_fortran_program_of_the_documentation(installed, tmp_path):
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran on this machine")
    module = Path(pkg_config(installed, "--variable=includedir")[0]) / "staghorn.f90"
    (tmp_path / "your_code.f90").write_text(block("library-fortran.md", "fortran"))
    flags = pkg_config(installed, "--libs")
    for source, name in [(tmp_path / "your_code.f90", "your_code"), (HERE / "unit_links.f90", "unit_links")]:
        run("gfortran", "-std=f2018", "-Wall", "-O2", module, source, "-o", name, *flags, cwd=tmp_path)
        text = run_with(installed, tmp_path / name)
        assert re.match(r"iterations \d+", text), text
    assert "refused: mass" in text


@pytest.mark.slow
def test_module_of_fortran_names_every_function_and_constant_of_the_header():
    header, module = ((ROOT / "solver" / "interface" / name).read_text() for name in ("staghorn.h", "staghorn.f90"))
    functions = set(re.findall(r"STAGHORN_API [\w *]*?\*?(staghorn_\w+)\(", header))
    constants = dict(re.findall(r"(STAGHORN_(?!STRUCT)\w+) = (-?\d+)", header.split("enum staghorn_struct")[0]))
    assert len(functions) >= 19 and len(constants) > 40
    missing = {name for name in functions if not re.search(rf"function {name}\(", module)}
    wrong = {name for name, value in constants.items() if not re.search(rf"\b{name} = {value}\b", module)}
    assert not missing and not wrong, (missing, wrong)


@pytest.mark.slow
def test_flags_of_the_host_change_no_bit(run_built, installed, tmp_path):
    """A host that contracts a*b+c and takes every instruction of its processor gets the bits of ours."""
    flags = pkg_config(installed, "--cflags", "--libs")
    hashes = set()
    for k, optimisation in enumerate([["-O0"], ["-O3", "-march=native", "-ffp-contract=fast"]]):
        program = tmp_path / f"host{k}"
        run("gcc", "-std=gnu99", *optimisation, HERE / "solution_hash.c", "-o", program, *flags, "-lm")
        hashes.add(run_with(installed, program))
    assert len(hashes) == 1 and re.fullmatch(r"0 [0-9a-f]{16}\n", hashes.pop())
