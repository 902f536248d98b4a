"""A program of test_one_way.py: the same requests by one door or the other.

    python one_way_requests.py session|gauge GAUGE FOLDER
    mpirun -n N python one_way_requests.py ranksN GAUGE FOLDER

Prints, from the first rank, a line in JSON for each request: its name, a hash of the whole solution, its shape, its report.
"""

import hashlib
import json
import os
import sys

import numpy as np
import staghorn

os.environ["SOURCE_DATE_EPOCH"] = "1795199983"  # in files
door, path, folder = sys.argv[1:4]
RATIONAL = os.path.join(folder, "rational.txt")
PAIRS = os.path.join(folder, "pairs.h5")
NUMBERS = ("precision", "sloppy", "sloppy_links", "sloppy_naik_links", "solver", "preconditioner")  # of each solve, as one likes

# Name, options of the session, mass, source ("array", "arrays" and "file": see below), options of the solve.
REQUESTS = [
    ("point", {}, 0.2, "point:1,0,3,5", {}),
    ("one colour of a wall", {}, 0.2, "wall:3", {"color": 1, "tolerance": 1e-6}),
    ("a parity", {"links": 12}, 0.1, "gaussian:5", {"system": "odd", "noise_vectors": 2}),
    ("noise in phases of MILC", {}, 0.2, "z2:7", {"noise_vectors": 3, "phases": "milc"}),
    ("array", {}, 0.2, "array", {}),
    ("arrays in batches", {}, 0.2, "arrays", {"batch": 2}),
    ("masses of arrays", {}, None, "arrays", {"masses": [0.2, 0.5]}),
    ("masses", {"sloppy": "fp32"}, None, "even-wall:2", {"masses": [0.2, 0.4, 0.9]}),
    ("rational function", {}, None, "z2:3", {"rational": RATIONAL + ":MD", "system": "even"}),
    ("its parts", {}, None, "array", {"rational": RATIONAL + ":MD", "rational_parts": True, "system": "even"}),
    ("batches", {}, 0.2, None, {"sources": ["z2:5", "point:1,2,3,5", "corner-wall:7"], "batch": 2}),
    ("batches of block CG", {"solver": "block"}, 0.2, "z2:5", {"noise_vectors": 6, "batch": 3}),
    ("mixed precision", {"sloppy": "fp16", "sloppy_links": 8}, 0.1, "z2:4", {}),
    ("chosen precision", {"sloppy": "auto"}, 0.1, "z2:4", {}),
    ("one precision", {"sloppy": "none"}, 0.1, "z2:4", {}),
    ("chosen precision in turns", {"sloppy": "auto"}, 0.1, None, {"sources": ["z2:4", "z2:5", "z2:6"], "batch": 2}),
    ("single precision", {"precision": "fp32"}, 0.1, "point:0,0,0,0", {}),
    ("preconditioner", {"preconditioner": "chebyshev:3"}, 0.1, "z2:1", {}),
    ("heavy quarks", {}, 1.5, "point:0,0,0,0", {"tolerance_hq": 1e-8, "max_iterations": 400}),
    ("out of iterations", {}, 0.01, "z2:1", {"max_iterations": 7}),
    ("boundary", {"boundary": (0, 0.25, 0, 1)}, 0.2, "z2:1", {}),
    ("HISQ", {"action": "hisq", "naik_epsilon": -0.1, "keep_thin_links": True, "sloppy": "fp32"}, None, "point:0,0,0,0",
     {"masses": "0.4,0.8:0.2"}),
    ("deflation", {"eigenvectors": PAIRS}, 0.05, "z2:2", {"noise_vectors": 2, "exact_low_modes": True}),
    ("checkpoint", {"sloppy": "none"}, 0.05, "z2:8", {"checkpoint": os.path.join(folder, f"{door}.state"), "checkpoint_every": 0}),
]


def whole_field(seed):
    """The same on every grid: numbers from global coordinates."""
    X, Y, Z, T = lattice
    t, z, y, x, c = np.ogrid[:T, :Z, :Y, :X, :3]
    return np.cos(seed + x + 2 * y + 3 * z + 5 * t + 7 * c) + 1j * np.sin(seed * (x - t) + c)


def shown(name, solution, report):
    print(json.dumps([name, hashlib.sha256(np.ascontiguousarray(solution).tobytes()).hexdigest(), solution.shape, report]), flush=True)


if door == "session":
    lattice = staghorn.Session(path).lattice
    for name, options, mass, source, asked in REQUESTS:
        given = {"array": lambda: whole_field(1), "arrays": lambda: np.stack([whole_field(k) for k in (1, 2, 3)])}.get(source, lambda: source)()
        shown(name, *staghorn.Session(path, device="cpu", **options).solve(mass, given, **asked))
else:
    comm = None
    if door.startswith("ranks"):
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    context = staghorn.Context(path, comm=comm, device="cpu")
    lattice = context.lattice
    part = tuple(slice(at, at + n) for at, n in zip(context.origin[::-1], context.local[::-1]))
    for name, options, mass, source, asked in REQUESTS:
        gauge = context.read(path, **{key: value for key, value in options.items() if key not in NUMBERS})
        given = {"array": lambda: whole_field(1)[part].copy(), "arrays": lambda: np.stack([whole_field(k)[part] for k in (1, 2, 3)])}.get(
            source, lambda: source)()
        solution, report = gauge.solve(mass, given, **{key: value for key, value in options.items() if key in NUMBERS}, **asked)
        parts = [(part, solution)] if comm is None else comm.gather((part, solution))
        if parts:
            whole = np.empty((*solution.shape[:-5], *lattice[::-1], 3), complex)
            for where, values in parts:
                whole[(..., *where, slice(None))] = values
            shown(name, whole, report)
        if name == "arrays in batches":
            context.write_vectors(os.path.join(folder, f"{door}.h5"), solution)
    context.close()
