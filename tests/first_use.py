"""What a user does first with an installed package, where there is no compiler: `./dev wheel`, test_package.py and
test_build_without_cuda_and_mpi.py run it.

    python tests/first_use.py COMMAND...        COMMAND: how the program of the package is called, by an absolute path

Works in the current folder, with nothing in PATH but what Open MPI starts itself. Asserts; prints the place of the package at
the end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import staghorn

tools = Path("tools").resolve()
tools.mkdir()
for name in ("orted", "ssh", "rsh"):
    if found := shutil.which(name):
        (tools / name).symlink_to(found)
os.environ["PATH"] = str(tools)
assert not [name for name in ("cc", "gcc", "g++", "c++", "clang", "nvcc", "cmake", "ninja") if shutil.which(name)], "a compiler"
PROGRAM = sys.argv[1:]


def program(*words: object) -> str:
    return subprocess.run([*PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


home = Path(staghorn.__file__).parent
assert all((home / name).is_file() for name in ("py.typed", "_native.pyi", "_interface.pyi", "bin/staghorn")), list(home.iterdir())
assert program("--version").split()[:2] == ["staghorn", staghorn.__version__]

assert "quenched" in program("inspect", staghorn.example_gauge())
program("generate", "--lattice", 4, 4, 4, 8, "--beta", 5.7, "--sweeps", 3, "--output", "q.h5")
session = staghorn.Session("q.h5")
solution, report = session.solve(0.5, "point:0,0,0,0")
assert report["outcome"] == "certified" and "CERTIFICATE  certified" in program(
    "solve", "--gauge", "q.h5", "--mass", 0.5, "--output", "x.h5", "--report", "x.json")
with h5py.File("x.h5") as file:
    assert file["solution"][...].tobytes() == np.ascontiguousarray(solution).tobytes()
links, _ = staghorn.read_gauge("q.h5")
source = np.zeros((8, 4, 4, 4, 3), complex)
source[0, 0, 0, 0, 0] = 1
again, _ = staghorn.Context((4, 4, 4, 8)).gauge(links).solve(0.5, source)
assert abs(again - solution[0]).max() < 1e-12

assert "|b - M x| / |b|" in str(staghorn.residual_plot(report))
staghorn.plot_residuals(report, "residuals.png")
assert Path("residuals.png").read_bytes().startswith(b"\x89PNG")
program("report", "x.json", "-o", "x.html")
assert "certified" in Path("x.html").read_text()
print(home)
