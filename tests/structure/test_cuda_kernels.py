"""CUDA kernels keep what they compute with in registers: the report of nvcc's assembler, read for one architecture.

Every .cu file of the tree is assembled, and every kernel of the tree must be among what was assembled.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["halo", "dirac", "lattice_io", "solver"]
SOURCES = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*.cu"))

# The kernels are written not to spill by this compiler. Compilers before it cannot spill to shared memory.
NVCC = (13, 0)
OTHERS_MAY_SPILL = 128  # bytes a thread, by any other version


def kernels_of(path: Path) -> set[str]:
    """The names of the kernels that a file defines."""
    text = re.sub(r"__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", path.read_text())
    return set(re.findall(r"__global__\s+void\s+(\w+)\(", text))


def commands(program: Path) -> dict[str, list[str]]:
    """Source -> how the build compiles it, without architectures and output. Skips where the build has no CUDA code."""
    database = program.parent / "compile_commands.json"
    entries = json.loads(database.read_text()) if database.is_file() else []
    found = {}
    for entry in entries:
        source = next((name for name in SOURCES if entry["file"].endswith("/" + name)), None)
        if source is None:
            continue
        words = shlex.split(entry["command"])
        end = words.index("-c")
        found[source] = [word for word in words[:end] if not word.startswith("--generate-code")] + [words[end + 1]]
    if not found:
        pytest.skip("no CUDA code in this build")
    return found


@pytest.fixture(scope="module")
def assembled(program, tmp_path_factory):
    """source -> what nvcc says of it: all of them compiled side by side."""
    folder, compile_with = tmp_path_factory.mktemp("assembled"), commands(program)

    def assemble(source):
        output = folder / source.replace("/", "-")
        return subprocess.run([*compile_with[source], "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-o", output],
                              capture_output=True, text=True)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(compile_with, pool.map(assemble, compile_with)))


@pytest.fixture(scope="module")
def may_spill(program) -> int:
    """Bytes a thread that this build's nvcc may spill."""
    compiler = next(word for word in next(iter(commands(program).values())) if Path(word).name == "nvcc")
    text = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.search(r"release (\d+)\.(\d+),", text).groups()
    return 0 if (int(major), int(minor)) == NVCC else OTHERS_MAY_SPILL


def spills(result) -> dict[str, int]:
    """Mangled name of a kernel -> bytes that a thread of it spills. Less than 0 where the assembler takes off what it moved to
    shared memory, and more than it had counted."""
    return {name: int(bytes) for name, bytes in
            re.findall(r"Function properties for (\S+)\n.*?(-?\d+) bytes spill stores", result.stderr)}


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_kernels_do_not_spill_registers(assembled, may_spill, source):
    assert source in assembled, "the build does not compile it"
    result = assembled[source]
    assert result.returncode == 0, result.stderr[-2000:]
    found = spills(result)
    missing = [kernel for kernel in kernels_of(ROOT / source) if not any(kernel in name for name in found)]
    assert not missing
    assert not {name: spilled for name, spilled in found.items() if spilled > may_spill}


@pytest.mark.slow
def test_every_kernel_of_a_header_is_assembled(assembled):
    headers = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cuh")]
    kernels = {kernel for path in headers for kernel in kernels_of(path)}
    assert {"hop_kernel", "hop_many_kernel", "direction_kernel", "one_kernel"} <= kernels
    names = {name for result in assembled.values() for name in spills(result)}
    assert not [kernel for kernel in kernels if not any(kernel in name for name in names)]


def test_sources_with_kernels_are_seen():
    """The list that the tests above go by, also where nothing is compiled for GPUs."""
    assert {kernel for source in SOURCES for kernel in kernels_of(ROOT / source)} >= {
        "finish_kernel", "sums_kernel", "update_kernel", "raise_kernel"}
    assert all(kernels_of(path) for folder in FOLDERS for path in (ROOT / folder).rglob("*.cu*")
               if "__global__" in path.read_text())
