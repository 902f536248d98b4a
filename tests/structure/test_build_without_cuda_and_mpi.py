"""Without nvcc, without an MPI, with the kernels of one instruction set Staghorn is built too: as a wheel, which is used in an
environment of its own, and with shared libraries. It gives the same bits, and says what it cannot do."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
import pytest
from installed_package import block, run
from solve_files import solution_bytes

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow

LIBRARIES = ["libstaghorn.so", "libstaghorn_milc.so", "libstaghorn_core.so"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a wheel, and of the build that made it: without CUDA, where CMake finds no MPI; with baseline kernels only,
    not optimised: that is quick."""
    pytest.importorskip("scikit_build_core")
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        pytest.skip("no cmake, or no ninja, on this machine")
    folder = tmp_path_factory.mktemp("without-cuda-and-mpi")
    unset_is_large = "-ftrivial-auto-var-init=pattern"  # numbers that nothing has set: no answer may depend on them
    define = f"CMAKE_DISABLE_FIND_PACKAGE_MPI=ON;CMAKE_CXX_FLAGS_DEBUG=-O0 {unset_is_large};STAGHORN_INSTRUCTION_SETS=baseline"
    variables = {"SKBUILD_BUILD_DIR": str(folder / "build"), "SKBUILD_CMAKE_BUILD_TYPE": "Debug", "SKBUILD_CMAKE_DEFINE": define}
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps", ROOT, "-w", folder]
    result = subprocess.run(wheel, capture_output=True, text=True, timeout=1700, env={**os.environ, **variables})
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    return folder


@pytest.fixture(scope="module")
def environment(built, tmp_path_factory):
    """An environment of its own where the wheel is installed. NumPy and the like are those of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--no-index", "--no-deps", next(built.glob("staghorn-*.whl")))
    place = sysconfig.get_path("purelib", vars={"base": str(folder)})
    (Path(place) / "of_the_tests.pth").write_text(str(Path(numpy.__file__).parents[1]))
    return folder


@pytest.fixture(scope="module")
def least(environment):
    """The command of the wheel."""
    return environment / "bin" / "staghorn"


@pytest.fixture(scope="module")
def moved(built, tmp_path_factory):
    """The prefix where the same objects were installed with shared libraries, in another place than they were installed to."""
    prefix = tmp_path_factory.mktemp("least") / "first-place"
    said = subprocess.run(["cmake", "-B", built / "build", "-DBUILD_SHARED_LIBS=ON"], capture_output=True, text=True).stderr
    assert "No MPI was found: this build is for one process" in said
    run("cmake", "--build", built / "build")
    run("cmake", "--install", built / "build", "--prefix", prefix)
    return prefix.rename(prefix.parent / "second-place")


def test_wheel_is_used_where_there_is_no_compiler(environment, tmp_path):
    """As `./dev wheel`, which makes a wheel with MPI, optimised and for all instruction sets."""
    pytest.importorskip("matplotlib")
    home = run(environment / "bin" / "python", ROOT / "tests" / "first_use.py", environment / "bin" / "staghorn", cwd=tmp_path,
               env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"})
    assert Path(home.strip()).is_relative_to(environment)


def test_solution_has_the_bits_of_the_program_under_test(least, staghorn, small_gauge, tmp_path):
    request = ["solve", "--gauge", small_gauge, "--mass", 1, "--color", 0, "--loopback", "xt", "--report"]
    staghorn(*request, tmp_path / "a.json", "--output", tmp_path / "a.h5", check=True)
    text = run(least, *request, tmp_path / "b.json", "--output", tmp_path / "b.h5")
    assert "CERTIFICATE  certified" in text
    assert solution_bytes(tmp_path / "a.h5") == solution_bytes(tmp_path / "b.h5")
    report = json.loads((tmp_path / "b.json").read_text())
    assert report["transport"] == "self" and report["provenance"]["build"].endswith(", no MPI")


def test_chain_and_eigenpairs_have_the_bits_of_the_program_under_test(least, program, tmp_path):
    """Not optimised, and with large numbers where none is set."""
    for folder, command in (("a", program), ("b", least)):
        (tmp_path / folder).mkdir()
        for words in (["generate", "--lattice", 4, 4, 4, 4, "--beta", 5.7, "--sweeps", 5, "--start", "hot", "--output", "q.h5"],
                      ["eigen", "--gauge", "q.h5", "--pairs", 2, "--output", "e.h5"]):
            run(command, *words, cwd=tmp_path / folder, env={**os.environ, "SOURCE_DATE_EPOCH": "0", "OMP_NUM_THREADS": "1"})
    for name in ("q.h5", "e.h5"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_program_refuses_a_gpu(least, small_gauge):
    result = subprocess.run([least, "solve", "--gauge", small_gauge, "--mass", "1", "--device", "cuda"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "CUDA" in result.stderr, result.stderr


def test_program_names_the_instruction_sets_it_was_built_for(least):
    command = [least, "bench", "hop", "--lattice", "4", "4", "4", "4", "--seconds", "0.001", "--instruction-set"]
    assert subprocess.run([*command, "baseline"], capture_output=True).returncode == 0
    refused = subprocess.run([*command, "avx2"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "(auto, baseline)" in refused.stderr and "avx2" in refused.stderr, refused.stderr


@pytest.mark.parametrize("variables, found", [
    ({"OMPI_COMM_WORLD_SIZE": "4"}, "found 4 (OMPI_COMM_WORLD_SIZE)"),
    ({"PMI_SIZE": "2", "SLURM_STEP_NUM_TASKS": "1"}, "found 2 (PMI_SIZE)"),
    ({"SLURM_STEP_NUM_TASKS": "3", "SLURM_NTASKS": "3"}, "found 3 (SLURM_STEP_NUM_TASKS)"),
    ({"SLURM_NTASKS": "3"}, None),  # a batch script, where the program runs once
    ({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "2"}, None),  # mpirun -n 1 in a step of two daemons
])
def test_program_refuses_to_do_the_same_work_in_each_of_several_processes(least, small_gauge, variables, found):
    result = subprocess.run([least, "inspect", small_gauge], capture_output=True, text=True, env={**os.environ, **variables})
    if found is None:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode == 1 and not result.stdout
        assert f"processes: expected one, as this build of Staghorn has no MPI, {found}" in result.stderr


def test_version_and_plan_say_that_there_is_no_mpi(least):
    assert run(least, "--version", env={**os.environ, "PMI_SIZE": "2"}).endswith(", no MPI)\n")
    plan = [least, "plan", "--lattice", "8x8x8x8", "--machine", "here", "--stream", 30, "--ranks"]
    assert "this build of Staghorn has no MPI" in run(*plan, 2)
    assert "MPI" not in run(*plan, 1)


def test_program_with_shared_libraries_starts_from_any_place(moved):
    assert list(moved.glob("lib*/**/libstaghorn_core.so")) and not list(moved.rglob("*.a"))
    assert run(moved / "bin" / "staghorn", "--version").startswith("staghorn ")
    for library in LIBRARIES:
        loaded = f"import ctypes, sys; ctypes.CDLL(sys.argv[1]); print({library!r})"
        assert run(sys.executable, "-c", loaded, next(moved.rglob(library))).strip() == library


def test_nothing_that_is_installed_asks_for_an_mpi(moved, environment):
    of_the_wheel = [*environment.rglob("staghorn/*.so*"), next(environment.rglob("staghorn/bin/staghorn"))]
    assert len(of_the_wheel) == 4
    for file in [moved / "bin" / "staghorn", *(next(moved.rglob(library)) for library in LIBRARIES), *of_the_wheel]:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file))
        assert "libstdc++.so.6" in needed and not [name for name in needed if "mpi" in name]
    assert "MPI::" not in "\n".join(file.read_text() for file in moved.rglob("*.cmake"))
    assert not list(moved.rglob("staghorn_mpi.h"))


def test_program_of_the_documentation_in_c(moved, tmp_path):
    (tmp_path / "main.c").write_text(block("library-c.md", "c"))
    library = next(moved.rglob("libstaghorn.so")).parent
    run("gcc", "-std=c99", f"-I{moved / 'include'}", tmp_path / "main.c", "-o", tmp_path / "main", f"-L{library}",
        f"-Wl,-rpath,{library}", "-lstaghorn")
    assert run(tmp_path / "main").count("solved, and checked") == 2


def test_package_for_python_solves_and_refuses_a_communicator(environment, small_gauge):
    use = """
import sys, numpy, staghorn
class Communicator:
    def py2f(self): return 0
with staghorn.Context(sys.argv[1]) as context:
    x, report = context.read(sys.argv[1]).solve(1, numpy.ones((10, 8, 6, 4, 3), complex))
    print(report.outcome, report.provenance["build"])
try: staghorn.Context(sys.argv[1], comm=Communicator())
except staghorn.Error as error: print(error.kind, error)
"""
    solved, refused = run(environment / "bin" / "python", "-c", use, small_gauge).splitlines()
    assert re.fullmatch(r"certified .*, no MPI", solved)
    assert refused.startswith("mpi comm: expected None, as this Staghorn was built without MPI")


# What another project in C++ gets: our header in the place of MPI's, with one process, and functions that fail.
CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(Staghorn REQUIRED COMPONENTS core)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE Staghorn::core)
"""
MAIN = """
#include <halo/communicator.hpp>
#include <halo/watch/error.hpp>
#include <cstdio>
int main() {
  const staghorn::MpiSession mpi;
  const staghorn::Communicator all(MPI_COMM_WORLD), part = all.split(0, 0);
  std::printf("%d of %d, %d\\n", part.rank(), part.size(), int(part.is_alone()));
  try {
    staghorn::check_mpi(MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, all.handle()), "MPI_Allreduce");
  } catch (const staghorn::Error& error) {
    std::puts(error.what());
  }
}
"""


def test_another_project_in_c_plus_plus_has_one_process(moved, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "main.cpp").write_text(MAIN)
    run("cmake", "-S", tmp_path, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={moved}", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "main").splitlines() == ["0 of 1, 1", "MPI_Allreduce: needs several processes, and this build has no MPI"]


def test_headers_of_a_build_without_mpi_refuse_that_of_an_mpi(tmp_path):
    (tmp_path / "mpi.h").write_text("#define MPI_VERSION 3\n")
    (tmp_path / "main.cpp").write_text('#include "halo/communicator.hpp"\n')
    result = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-DSTAGHORN_WITHOUT_MPI", f"-I{tmp_path}", f"-I{ROOT}", tmp_path / "main.cpp"],
                            capture_output=True, text=True)
    assert result.returncode != 0 and "This Staghorn was built without MPI" in result.stderr
