"""A program of test_processes.py: one lattice over the ranks of COMM_WORLD, in a grid and an order of its own.

    mpirun -n N python many_processes.py GAUGE GRID ORDER

Prints, from the first rank, a hash of the whole solution in the order of the lattice, then iterations and outcome.
"""

import hashlib
import sys

import numpy as np
import staghorn
from mpi4py import MPI

path, grid_text, order = sys.argv[1:4]
grid = tuple(map(int, grid_text.split(","))) if grid_text != "chosen" else None
comm, coord = MPI.COMM_WORLD, None
if order == "reversed":
    comm = comm.Split(0, -comm.rank)
elif order == "halves":  # two halves, each with the whole lattice, its ranks permuted
    comm = comm.Split(comm.rank % 2, -comm.rank)
elif order == "t-fastest":
    coord = tuple(int(c) for c in np.unravel_index(comm.rank, grid))

context = staghorn.Context(path, comm=comm, grid=grid, coord=coord)
gauge = context.read(path)
(x0, y0, z0, t0), (nx, ny, nz, nt) = context.origin, context.local
source = np.zeros((nt, nz, ny, nx, 3), complex)
t, z, y, x = np.ogrid[t0:t0 + nt, z0:z0 + nz, y0:y0 + ny, x0:x0 + nx]
for color in range(3):
    source[..., color] = np.cos(x + 2 * y + 3 * z + 5 * t + color) + 1j * (x - t)
solution, report = gauge.solve(0.2, source, sloppy="fp32")

parts = comm.gather((context.origin, context.local, solution))
lines = None
if comm.rank == 0:
    X, Y, Z, T = context.lattice
    whole = np.empty((T, Z, Y, X, 3), complex)
    for (x0, y0, z0, t0), (nx, ny, nz, nt), part in parts:
        whole[t0:t0 + nt, z0:z0 + nz, y0:y0 + ny, x0:x0 + nx] = part
    lines = f"{hashlib.sha256(whole.tobytes()).hexdigest()} {report.iterations} {report.outcome} {gauge.info.hash if comm.size == 1 else ''}"
lines = MPI.COMM_WORLD.gather(lines)
if MPI.COMM_WORLD.rank == 0:
    print("\n".join(line.rstrip() for line in lines if line))
context.close()
