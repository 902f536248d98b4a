"""Without nvcc, with the kernels of one instruction set, and with a shared library the program is built too, and says what it
cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_package import run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def without_cuda(tmp_path_factory):
    """The program built without CUDA, with baseline kernels only, with shared libraries, not optimised: that is quick."""
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        pytest.skip("no cmake, or no ninja, on this machine")
    folder = tmp_path_factory.mktemp("without-cuda")
    for command in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DSTAGHORN_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Debug",
                     "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DSTAGHORN_INSTRUCTION_SETS=baseline", "-DBUILD_SHARED_LIBS=ON", "-DSTAGHORN_TESTS=OFF",
                     "-DSTAGHORN_PRECOMPILED_HEADERS=ON"],
                    ["cmake", "--build", folder, "--target", "staghorn", "staghorn_milc", "--parallel", str(os.cpu_count())]):
        result = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    return folder / "staghorn"


@pytest.mark.slow
def test_program_without_cuda_solves(without_cuda, small_gauge):
    result = subprocess.run([without_cuda, "solve", "--gauge", small_gauge, "--mass", "1", "--color", "0"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "certified" in result.stdout


@pytest.mark.slow
def test_program_without_cuda_refuses_a_gpu(without_cuda, small_gauge):
    result = subprocess.run([without_cuda, "solve", "--gauge", small_gauge, "--mass", "1", "--device", "cuda"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "CUDA" in result.stderr, result.stderr


@pytest.mark.slow
def test_program_names_the_instruction_sets_it_was_built_for(without_cuda):
    command = [without_cuda, "bench", "hop", "--lattice", "4", "4", "4", "4", "--seconds", "0.001", "--instruction-set"]
    assert subprocess.run([*command, "baseline"], capture_output=True).returncode == 0
    refused = subprocess.run([*command, "avx2"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "(auto, baseline)" in refused.stderr and "avx2" in refused.stderr, refused.stderr


@pytest.mark.slow
def test_program_with_shared_libraries_starts_from_any_place(without_cuda, tmp_path):
    first, second = tmp_path / "first-place", tmp_path / "second-place"
    run("cmake", "--install", without_cuda.parent, "--prefix", first)
    first.rename(second)
    assert list(second.glob("lib*/**/libstaghorn_core.so")) and not list(second.rglob("*.a"))
    assert run(second / "bin" / "staghorn", "--version").startswith("staghorn ")
    for library in ("libstaghorn.so", "libstaghorn_milc.so"):
        loaded = f"import ctypes, sys; ctypes.CDLL(sys.argv[1]); print({library!r})"
        assert run(sys.executable, "-c", loaded, next(second.rglob(library))).strip() == library
