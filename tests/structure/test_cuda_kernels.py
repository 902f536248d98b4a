"""CUDA kernels keep what they compute with in registers: what nvcc's assembler said in the build, read for one architecture.

Every .cu file of the tree is compiled, and every kernel of the tree must be among what was compiled.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["halo", "dirac", "lattice_io", "solver"]
SOURCES = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*.cu"))

# The kernels are written not to spill by this compiler on this architecture. Compilers before it cannot spill to shared memory.
NVCC, ARCHITECTURE = (13, 0), "sm_90"
OTHERS_MAY_SPILL = 128  # bytes a thread, by any other version


def kernels_of(path: Path) -> set[str]:
    """The names of the kernels that a file defines."""
    text = re.sub(r"__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", path.read_text())
    return set(re.findall(r"__global__\s+void\s+(\w+)\(", text))


def commands(program: Path) -> dict[str, dict]:
    """Source -> how the build compiles it. Skips where the build has no CUDA code."""
    database = program.parent / "compile_commands.json"
    entries = json.loads(database.read_text()) if database.is_file() else []
    found = {name: entry for entry in entries for name in SOURCES if entry["file"].endswith("/" + name)}
    if not found:
        pytest.skip("no CUDA code in this build")
    return found


@pytest.fixture(scope="module")
def assembled(program) -> dict[str, dict[str, int]]:
    """Source -> mangled name of a kernel -> bytes that a thread of it spills, as nvcc said when the build compiled it
    (cmake/keep_messages.sh)."""
    found = {}
    for source, entry in commands(program).items():
        words = shlex.split(entry["command"])
        output = Path(entry["directory"]) / words[words.index("-o") + 1]
        if ARCHITECTURE not in entry["command"]:
            pytest.skip(f"no code for {ARCHITECTURE} in this build")
        found[source] = spills(Path(f"{output}.messages").read_text())
    return found


@pytest.fixture(scope="module")
def may_spill(program) -> int:
    """Bytes a thread that this build's nvcc may spill."""
    words = shlex.split(next(iter(commands(program).values()))["command"])
    compiler = next(word for word in words if Path(word).name == "nvcc")
    text = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.search(r"release (\d+)\.(\d+),", text).groups()
    return 0 if (int(major), int(minor)) == NVCC else OTHERS_MAY_SPILL


def spills(messages: str) -> dict[str, int]:
    """Of the kernels for the architecture that they are written for. Less than 0 where the assembler takes off what it moved to
    shared memory, and more than it had counted."""
    return {name: int(bytes) for name, bytes in
            re.findall(rf"Compiling entry function '(\S+)' for '{ARCHITECTURE}'\n.*\n.*?(-?\d+) bytes spill stores", messages)}


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_kernels_do_not_spill_registers(assembled, may_spill, source):
    assert source in assembled, "the build does not compile it"
    found = assembled[source]
    missing = [kernel for kernel in kernels_of(ROOT / source) if not any(kernel in name for name in found)]
    assert not missing
    assert not {name: spilled for name, spilled in found.items() if spilled > may_spill}


@pytest.mark.slow
def test_every_kernel_of_a_header_is_compiled(assembled):
    headers = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cuh")]
    kernels = {kernel for path in headers for kernel in kernels_of(path)}
    assert {"hop_kernel", "hop_many_kernel", "direction_kernel", "one_kernel"} <= kernels
    names = {name for found in assembled.values() for name in found}
    assert not [kernel for kernel in kernels if not any(kernel in name for name in names)]


@pytest.mark.slow
def test_kernels_compile_without_a_compiler_cache(program, tmp_path):
    words = shlex.split(next(iter(commands(program).values()))["command"])
    compiler = next(word for word in words if Path(word).name == "nvcc")
    subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DSTAGHORN_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={compiler}",
                    "-DCMAKE_CXX_COMPILER_LAUNCHER=/usr/bin/env", "-DSTAGHORN_TESTS=OFF",
                    "-DSTAGHORN_CUDA_ARCHITECTURES=90-real"], check=True, capture_output=True)
    subprocess.run(["ninja", "-C", tmp_path, "CMakeFiles/staghorn_core.dir/solver/krylov/cuda/cuda_binding.cu.o"], check=True, capture_output=True)
    assert (tmp_path / "CMakeFiles/staghorn_core.dir/solver/krylov/cuda/cuda_binding.cu.o.messages").is_file()


def test_sources_with_kernels_are_seen():
    """The list that the tests above go by, also where nothing is compiled for GPUs."""
    assert {kernel for source in SOURCES for kernel in kernels_of(ROOT / source)} >= {
        "finish_kernel", "sums_kernel", "update_kernel", "raise_kernel"}
    assert all(kernels_of(path) for folder in FOLDERS for path in (ROOT / folder).rglob("*.cu*")
               if "__global__" in path.read_text())
