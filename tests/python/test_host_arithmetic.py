"""A process whose libraries have set another rounding, or that flushes subnormal numbers, gets the same bits, and keeps its modes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import staghorn

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="the modes of x86-64 as glibc has them")

PROGRAM = """
import ctypes, hashlib, sys
import numpy as np, staghorn
from staghorn import reference

libm = ctypes.CDLL("libm.so.6")
modes = ctypes.create_string_buffer(32)
def control():
    libm.fegetenv(modes)
    return int.from_bytes(modes.raw[28:32], "little") & 0xffc0
def set_control(bits):
    libm.fegetenv(modes)
    value = int.from_bytes(modes.raw[28:32], "little") & ~0xffc0 | bits
    modes.raw = modes.raw[:28] + value.to_bytes(4, "little")
    libm.fesetenv(modes)
plain = control()
wanted = plain | {"nearest": 0, "upward": 0x4000, "flush": 0x8040}[sys.argv[2]]
sums = hashlib.sha256()
def call(work, *arguments, **options):
    set_control(wanted)
    try:
        return work(*arguments, **options)
    finally:
        found = control()
        set_control(plain)
        assert found == wanted, hex(found)
def take(array): sums.update(np.ascontiguousarray(array).tobytes())

path = sys.argv[1]
links, _ = call(staghorn.read_gauge, path)
session = call(staghorn.Session, path, sloppy="fp32")
x, report = call(session.solve, 0.3, "point:0,0,0,0")
take(x)
take(call(session.eigen, 1, tolerance=1e-6)[1])  # values come by the text of the report, which Python reads in its own rounding
seen = []
gauge = call(call(staghorn.Context, path, threads=2).read, path, action="hisq")
b = reference.random_vector((4, 6, 8, 10), 3)
x, report = call(gauge.solve, 0.3, b, sloppy="fp16", progress=lambda *at: seen.append(control()))
assert seen and set(seen) == {wanted}
take(x)
take(call(gauge.hop, np.ldexp(b.view(float), -1060).view(complex)))
take(call(staghorn.generate, (4, 4, 4, 4), beta=5.7, sweeps=2))
print(sums.hexdigest())
"""


def run(path, mode, threads):
    environment = {**os.environ, "PYTHONPATH": str(Path(staghorn.__file__).parent.parent), "OMP_NUM_THREADS": str(threads)}
    result = subprocess.run([sys.executable, "-c", PROGRAM, str(path), mode], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("mode, threads", [("upward", 1), ("upward", 2), ("flush", 2)])
def test_bits_are_those_of_a_plain_process(small_gauge, mode, threads):
    assert run(small_gauge, mode, threads) == run(small_gauge, "nearest", 1)
