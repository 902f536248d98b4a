"""What `cmake --install` leaves can be used by another CMake project, in another place: the program of docs/interfaces/library.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installed_package import block, run

# The project says nothing of the C++ standard: it comes with Staghorn::core.
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
add_executable(your_code main.cpp)
"""

# One file for each header, which is included before anything else.
HEADERS_ALONE = """
file(GLOB each_header ${CMAKE_CURRENT_SOURCE_DIR}/headers/*.cpp)
add_library(headers_alone OBJECT ${each_header})
target_compile_options(headers_alone PRIVATE -fsyntax-only)
target_link_libraries(headers_alone PRIVATE Staghorn::core)
"""


@pytest.fixture(scope="module")
def consumer(program, installed, tmp_path_factory):
    """The build folder of a project that uses the package."""
    source = tmp_path_factory.mktemp("consumer")
    (source / "CMakeLists.txt").write_text(PROJECT + block("library.md", "cmake") + HEADERS_ALONE)
    (source / "main.cpp").write_text(block("library.md", "cpp"))
    (source / "headers").mkdir()
    for header in installed_headers(installed):
        (source / "headers" / header.replace("/", "-").replace(".hpp", ".cpp")).write_text(f'#include "{header}"\n')
    cache = (program.parent / "CMakeCache.txt").read_text()
    compiler = next(line.split("=", 1)[1] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER:"))
    run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_CXX_COMPILER={compiler}")
    return source / "build"


def installed_headers(prefix: Path) -> list[str]:
    folder = prefix / "include" / "staghorn"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_installed_program_runs(installed):
    assert "staghorn" in run(installed / "bin" / "staghorn", "--version")


@pytest.mark.slow
def test_package_names_no_place_of_this_machine(installed):
    files = list(installed.rglob("*.cmake"))
    assert len(files) >= 4, files
    absolute = re.compile(r'(?<![\w.}])/\w[\w.-]*/')  # the start of a path, not "${variable}/lib/" or "../lib/"
    found = [f"{file.name}: {line}" for file in files for line in file.read_text().splitlines()
             if absolute.search(line.split("#")[0])]
    assert not found
    assert absolute.search('set(x "/usr/lib/libz.so")') and absolute.search("a;/opt/hdf5/include;b")


@pytest.mark.slow
def test_package_asks_for_no_library_that_its_headers_and_its_archive_do_not_need(installed):
    text = "\n".join(file.read_text() for file in installed.rglob("*.cmake"))
    assert "nlohmann" not in text
    needed = re.search(r'INTERFACE_LINK_LIBRARIES "(.*)"', text)[1].replace("\\$", "$")
    assert "$<LINK_ONLY:ZLIB::ZLIB>" in needed and "$<LINK_ONLY:hdf5::hdf5>" in needed, needed
    headers = "\n".join((installed / "include" / "staghorn" / name).read_text() for name in installed_headers(installed))
    assert not re.findall(r"#include <(?:hdf5|zlib|nlohmann|boost)[^>]*>", headers)


@pytest.mark.slow
def test_every_installed_header_compiles_alone(consumer):
    assert len(list((consumer.parent / "headers").iterdir())) > 5
    run("cmake", "--build", consumer, "--target", "headers_alone", "--parallel", "2")


@pytest.mark.slow
@pytest.mark.mpi
def test_program_of_the_documentation_solves_alike_on_one_rank_and_on_two(consumer, run_built):
    run("cmake", "--build", consumer, "--target", "your_code")
    alone, together = (run_built(consumer / "your_code", ranks=ranks) for ranks in (1, 2))
    assert alone.returncode == 0, alone.stderr
    assert re.findall(r"mass (\S+): (\w+)", alone.stdout) == [("0.5", "certified"), ("0.2", "certified")]
    assert together.stdout == alone.stdout, together.stderr
