"""A program of test_together.py: arguments that are wrong on one rank alone.

    mpirun -n 2 python rank_arguments.py GAUGE FOLDER CULPRIT

Prints, from the first rank, a line for each call: its name, and for each rank the class and the text of what was raised.
"""

import signal
import sys

import numpy as np
import staghorn
from mpi4py import MPI

path, folder, culprit = sys.argv[1], sys.argv[2], int(sys.argv[3])
world = MPI.COMM_WORLD
wrong = world.rank == culprit
signal.alarm(200)


class Interrupted:
    """An array that is interrupted while it says where it lies."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **how):
        raise KeyboardInterrupt


def told(name, work):
    try:
        work()
        text = "nothing was raised"
    except (Exception, KeyboardInterrupt) as error:
        text = f"{type(error).__name__} {error}"
    texts = world.gather(text)
    if world.rank == 0:
        print(name, *[text.replace("\n", " ").replace("|", "/") for text in texts], sep=" | ", flush=True)


def contexts(**bad):
    return lambda: staghorn.Context(**{"lattice": path, "comm": world, "grid": (1, 1, 1, 2), **(bad if wrong else {})})


told("option", contexts(gird=(1, 1, 1, 2)))
told("no file", contexts(lattice="none.h5"))
told("type of a grid", contexts(grid=(1, 1, 1, "2")))
told("type of threads", contexts(threads="two"))
told("type of a transport", contexts(transport=5))
told("device", contexts(device="cudda"))
told("path", contexts(tuning_file=7))

context = contexts()()
gauge = context.read(path)
x, y, z, t = context.local
b = np.zeros((t, z, y, x, 3), complex)
b[0, 0, 0, 0, 0] = context.origin == (0, 0, 0, 0)
links = context.read_links(path)


def calls(method, good, **bad):
    """`method` with good arguments, of which the culprit has others; None in `bad`: it leaves one out."""
    arguments = {**good, **(bad if wrong else {})}
    return lambda: method(**{name: value for name, value in arguments.items() if value is not None or name not in bad})


solve = {"mass": 0.3, "source": b}
readonly = b.copy()
readonly.flags.writeable = False
told("shape", calls(gauge.solve, solve, source=b[:1]))
told("order of memory", calls(gauge.solve, solve, source=np.asfortranarray(b)))
told("dtype", calls(gauge.solve, solve, source=b.real))
told("no array", calls(gauge.solve, solve, source=[1, 2]))
told("words", calls(gauge.solve, solve, source="point:0,0,0,0"))
told("no source", calls(gauge.solve, solve, source=None))
told("keyword", calls(gauge.solve, solve, tolerence=1e-8))
told("type of a mass", calls(gauge.solve, solve, mass="0.3"))
told("large number", calls(gauge.solve, solve, max_iterations=2**80))
told("word", calls(gauge.solve, solve, system="evn"))
told("read-only", calls(gauge.solve, {**solve, "out": b.copy()}, out=readonly))
told("guess without out", calls(gauge.solve, solve, guess=True))
told("progress", calls(gauge.solve, solve, progress=5))
told("interrupt", calls(gauge.solve, solve, source=Interrupted()))
shared = np.zeros_like(b)
told("shared memory", calls(gauge.solve, {**solve, "out": np.zeros_like(b), "dx": np.zeros_like(b)}, out=shared, dx=shared))
told("several sources", calls(gauge.solve, {"mass": 0.3, "source": np.stack([b, b])}, source=np.stack([b, b])[..., :2]))
told("target", calls(gauge.hop, {"source": b}, target="evn"))
told("hop out", calls(gauge.hop, {"source": b, "out": b.copy()}, out=b.copy()[:2]))
shifts = {"shifts": [0.0, 0.1], "source": b, "mass": 0.3}
told("shifts", calls(gauge.multishift, shifts, shifts=["a", "b"]))
told("tolerances", calls(gauge.multishift, shifts, tolerance=[1e-8]))
told("links", calls(gauge.update, {"array": links}, array=links[:, :, :, :1]))
told("naik links", calls(gauge.update, {"array": links}, naik=links))
told("gauge", calls(context.gauge, {"array": links}, action="hisk"))
told("scale", calls(context.gauge, {"array": links}, scale=[1, 1]))
told("links of a gauge", calls(context.gauge, {"array": links}, array=links.real))
told("path of a file", calls(context.read, {"path": path}, path=5))
told("option of a file", calls(context.read, {"path": path}, boundary="perodic"))
told("file", calls(context.read_links, {"path": path}, path=f"{folder}/none.h5"))
told("all", lambda: gauge.solve(0.3, b, system="evn"))

same, report = gauge.solve(0.3, b)
assert report.certified and gauge.info.loads >= 1
half = world.Split(world.rank)
between = half.Create_intercomm(0, world, 1 - world.rank)
told("intercommunicator", lambda: staghorn.Context(path, comm=between))
told("null", lambda: staghorn.Context(path, comm=MPI.COMM_NULL))
context.close()
