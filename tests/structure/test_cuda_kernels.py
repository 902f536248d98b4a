"""CUDA kernels keep what they compute with in registers: the report of nvcc's assembler, read for one architecture."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

SOURCES = ["dirac/fields/cuda_conversions.cu", "dirac/gauge/cuda_heatbath.cu", "dirac/kernels/cuda/cuda_kernels.cu",
           "solver/krylov/cuda/cuda_conjugate_gradient.cu", "solver/krylov/cuda/cuda_one_kernel.cu"]
NVCC = "13.0"


def compile_command(program, source: str) -> list[str]:
    """How the build compiles this source, without its architectures and output; skips where there is none."""
    database = program.parent / "compile_commands.json"
    entries = json.loads(database.read_text()) if database.is_file() else []
    command = next((shlex.split(entry["command"]) for entry in entries if entry["file"].endswith(source)), None)
    if command is None:
        pytest.skip("no CUDA code in this build")
    if f"release {NVCC}," not in subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout:
        pytest.skip(f"kernels are written not to spill by nvcc {NVCC}")
    end = command.index("-c")
    return [word for word in command[:end] if not word.startswith("--generate-code")] + [command[end + 1]]


@pytest.fixture(scope="module")
def assembled(program, tmp_path_factory):
    """source -> what nvcc says of it: all of them compiled side by side."""
    folder = tmp_path_factory.mktemp("assembled")

    def assemble(source):
        output = folder / source.replace("/", "-")
        return subprocess.run([*compile_command(program, source), "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-o", output],
                              capture_output=True, text=True)

    compile_command(program, SOURCES[0])  # skips here, not in a thread
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(SOURCES, pool.map(assemble, SOURCES)))


@pytest.mark.slow
@pytest.mark.parametrize("source, kernels", [("dirac/fields/cuda_conversions.cu", ["pack_vectors", "unpack_vectors", "convert_vectors", "pack_links",
                                                                               "convert_links"]),
                                             ("dirac/gauge/cuda_heatbath.cu", ["update_kernel", "plaquette_kernel"]),
                                             ("dirac/kernels/cuda/cuda_kernels.cu", ["hop_kernel", "direction_kernel"]),
                                             ("solver/krylov/cuda/cuda_conjugate_gradient.cu",
                                              ["hop_kernel", "hop_many_kernel", "direction_kernel"]),
                                             ("solver/krylov/cuda/cuda_one_kernel.cu", ["one_kernel"])])
def test_kernels_do_not_spill_registers(assembled, source, kernels):
    result = assembled[source]
    assert result.returncode == 0, result.stderr[-2000:]
    # Less than 0 where the assembler takes off what it moved to shared memory, and more than it had counted.
    report = re.findall(r"Function properties for (\S+)\n.*?(-?\d+) bytes spill stores", result.stderr)
    assert all(any(kernel in name for name, _ in report) for kernel in kernels)
    assert not [f"{name}: {spilled} bytes" for name, spilled in report if int(spilled) > 0]
