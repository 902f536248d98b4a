"""What `cmake --install` leaves can be used by another CMake project."""

from __future__ import annotations

import shutil
import subprocess

import pytest

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(staghorn 0.1 REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE staghorn::core)
"""

MAIN = """
#include <cstdio>
#include "dirac/boundary.hpp"
#include "halo/communicator.hpp"
int main() {
  staghorn::MpiSession mpi;
  staghorn::Communicator world(MPI_COMM_WORLD);
  std::puts(to_string(staghorn::parse_boundary("0,periodic,0.5,1")).c_str());
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on this machine")
def test_installed_library_is_found_and_links(program, tmp_path):
    build = program.parent
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip(f"{build} is not a build folder")

    def run(*command):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    prefix, source = tmp_path / "prefix", tmp_path / "consumer"
    run("cmake", "--install", build, "--prefix", prefix)
    assert "staghorn" in run(prefix / "bin" / "staghorn", "--version")
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    (source / "main.cpp").write_text(MAIN)
    cache = (build / "CMakeCache.txt").read_text()
    compiler = next(line.split("=", 1)[1] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER:"))
    run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", source / "build")
    assert run(source / "build" / "consumer").strip()
