"""The program cross-compiled for Arm processors, emulated by qemu-user, gives the bytes of the program under test.

`./dev arm` builds it into build-arm/, which stays; where the cross compiler, the emulator or the network is missing, the test is skipped
and says which.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from program_under_test import ROOT, built_with_mpi

pytestmark = pytest.mark.slow

NEEDED = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user", "cmake": "cmake", "ninja": "ninja-build", "apt-get": "apt"}


def test_arm_has_the_bytes_of_the_program_under_test(program):
    for tool, package in NEEDED.items():
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} on this machine (package {package} of Debian)")
    done = subprocess.run([ROOT / "dev", "arm"], capture_output=True, text=True, timeout=1700, env={**os.environ, "STAGHORN_PROGRAM": str(program)})
    if "arm64 libraries could not be fetched" in done.stderr:
        pytest.skip("the arm64 libraries could not be fetched (no network?)")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert f"{12 if built_with_mpi() else 6} answers alike, 0 not" in done.stdout, done.stdout
    assert "hisq, fp64/fp16, 1 rank, baseline: the same" in done.stdout, done.stdout
