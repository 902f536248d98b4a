"""Context in processes of their own: with mpi4py and without, with threads, and hundreds of times."""

from __future__ import annotations

from pathlib import Path

import pytest
from program_under_test import FREED_AT_ONCE
from python_processes import needs_mpi4py, python

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

MANY = Path(__file__).parent / "many_processes.py"


# --- MPI --------------------------------------------------------------------------------------------------------

ONE_PROCESS = """
import numpy as np, staghorn as sh
from staghorn import reference
links, b = reference.random_links((4, 4, 4, 4), seed=1), reference.random_vector((4, 4, 4, 4), 2)
print(sh.Context((4, 4, 4, 4)).gauge(links).solve(0.5, b)[1].outcome)
sh.Session(links, order="lex").solve(0.5, b)
"""


@needs_mpi4py
def test_one_process_calls_no_function_of_mpi():
    after = "import mpi4py; mpi4py.rc.initialize = False\nfrom mpi4py import MPI\nprint(MPI.Is_initialized())"
    assert python("-c", ONE_PROCESS + after).split() == ["certified", "False"]


ORDERS = {
    "mpi4py first": "from mpi4py import MPI\nimport staghorn\n",
    "staghorn first": "import staghorn\nfrom mpi4py import MPI\n",
    "session first": "import staghorn; staghorn.Session\nfrom mpi4py import MPI\n",
}


@needs_mpi4py
@pytest.mark.parametrize("order", ORDERS)
def test_import_order_does_not_matter(order):
    code = ORDERS[order] + """
from staghorn import reference
links, b = reference.random_links((4, 4, 4, 4), seed=1), reference.random_vector((4, 4, 4, 4), 2)
x, report = staghorn.Context((4, 4, 4, 4), comm=MPI.COMM_WORLD).gauge(links).solve(0.5, b)
same, _ = staghorn.Session(links, order="lex").solve(0.5, b)
print(report.outcome, (x == same).all(), MPI.COMM_WORLD.allreduce(1), MPI.Query_thread() == MPI.THREAD_MULTIPLE)
"""
    assert python("-c", code) == "certified True 1 True"


@needs_mpi4py
def test_communicator_of_another_mpi_is_refused():
    code = """
from mpi4py import MPI
import mpi4py, types, staghorn
mpi4py.MPI = types.SimpleNamespace(Get_library_version=lambda: "MPICH Version: 4.3\\0")
import sys; sys.modules["mpi4py.MPI"] = mpi4py.MPI
try:
    staghorn.Context((4, 4, 4, 4), comm=MPI.COMM_WORLD)
except staghorn.Error as error:
    print(error.kind, error)
"""
    text = python("-c", code)
    assert text.startswith("mpi comm: expected") and "MPICH Version: 4.3" in text and "Open MPI" in text, text


@pytest.fixture(scope="module")
def one_rank(small_gauge):
    return python(MANY, small_gauge, "1,1,1,1", "natural").split()


@needs_mpi4py
@pytest.mark.mpi
@pytest.mark.parametrize("ranks, grid, order", [(2, "1,1,2,1", "natural"), (4, "2,1,2,1", "reversed"), (4, "2,1,2,1", "t-fastest"),
                                                (4, "1,1,2,1", "halves"), (3, "chosen", "natural"), (3, "1,1,1,3", "natural")])
def test_one_lattice_over_ranks_has_the_bits_of_one(small_gauge, one_rank, ranks, grid, order):
    lines = python(MANY, small_gauge, grid, order, ranks=ranks).splitlines()
    assert len(lines) == (2 if order == "halves" else 1)
    assert all(line.split() == one_rank[:3] for line in lines), (lines, one_rank)


@needs_mpi4py
@pytest.mark.mpi
def test_a_grid_that_does_not_fit_is_refused_on_every_rank(small_gauge):
    code = f"""
from mpi4py import MPI
import staghorn
for more in (dict(grid=(1, 1, 1, 3)), dict(coord=(0, 0, 0, 0), grid=(1, 1, 1, 2)), dict(lattice=(2, 2, 2, 2))):
    try:
        staghorn.Context(**{{"lattice": {str(small_gauge)!r}, "comm": MPI.COMM_WORLD, **more}})
    except staghorn.Error as error:
        texts = MPI.COMM_WORLD.gather(str(error))
        if MPI.COMM_WORLD.rank == 0:
            print(len(set(texts)), texts[0].replace(chr(10), " "))
"""
    lines = python("-c", code, ranks=2).splitlines()
    assert [line[:6] for line in lines] == ["1 grid", "1 coor", "1 "[:2] + lines[2][2:6]] and len(lines) == 3, lines


# --- many contexts, many threads --------------------------------------------------------------------------------

GROWTH = """
import gc, resource, sys
import numpy as np, staghorn as sh
from staghorn import reference
links, b = reference.random_links((4, 4, 4, 4), seed=1), reference.random_vector((4, 4, 4, 4), 2)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def run(n):
    for _ in range(n):
        gauge = sh.Context((4, 4, 4, 4), device="cpu").gauge(links)
        gauge.solve(0.5, b)
        gauge.hop(b)
        try:
            gauge.solve(-1.0, b)
        except sh.Error:
            pass
run(50)
before = resident()
run(300)
gc.collect()
print(resident() - before)
"""


def test_three_hundred_contexts_made_and_dropped_leave_nothing():
    assert int(python("-c", GROWTH, env=FREED_AT_ONCE)) < 2**20  # bytes


THREADS = """
import threading
import numpy as np, staghorn as sh
from staghorn import reference
links = [reference.random_links((4, 4, 4, 8), seed=seed) for seed in (1, 2)]
b = reference.random_vector((4, 4, 4, 8), 3)
alone = [sh.Context((4, 4, 4, 8), device="cpu").gauge(u).solve(0.1, b)[0] for u in links]
meeting, good = threading.Barrier(2), [0, 0]

def work(k):
    gauge = sh.Context((4, 4, 4, 8), threads=1 + k, device="cpu").gauge(links[k])
    for _ in range(20):
        met = []
        def meet(iteration, ratio):  # both threads are within a solve at the same time
            if not met:
                met.append(meeting.wait(30))
        good[k] += np.array_equal(gauge.solve(0.1, b, progress=meet)[0], alone[k])

threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(good)
"""


def test_two_threads_solve_in_two_contexts_at_once():
    assert python("-c", THREADS) == "[20, 20]"
