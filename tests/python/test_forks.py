"""Children that multiprocessing forks, as it does by default: they solve, with the threads and bits of their parent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import staghorn
from program_under_test import built_with_mpi

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

HEAD = """
import hashlib, multiprocessing, os, signal, sys
import numpy as np, staghorn

def bits(array): return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
def with_limit(work, *arguments):
    signal.alarm(60)  # ends a child that waits for threads that are not there
    return work(*arguments)
def in_children(work, arguments, method="fork"):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.starmap(with_limit, [(work, one) for one in arguments])
path = sys.argv[1]
"""

SESSIONS = HEAD + """
def solve(mass):
    x, report = staghorn.Session(path, device="cpu").solve(mass, "point:0,0,0,0")
    return bits(x), report["outcome"], report["threads"]
def look(name):
    links, _ = staghorn.read_gauge(path)
    staghorn.write_gauge(name, links, force=True)
    return bits(staghorn.read_gauge(name)[0]) == bits(links)
def solve_in_parents(mass):
    return bits(session.solve(mass, "point:0,0,0,0")[0]), "certified", 2

session = staghorn.Session(path, device="cpu")  # two threads are there from now on
here = [solve(mass) for mass in (0.5, 0.6)]
assert {one[1:] for one in here} == {("certified", 2)}, here
assert in_children(solve, (0.5, 0.6)) == here
assert in_children(solve_in_parents, (0.5, 0.6)) == here
assert in_children(look, [f"{sys.argv[2]}/{k}.nersc" for k in (1, 2)]) == [True, True]
try:
    print(in_children(solve, (-1.0,)))
except staghorn.Error as error:
    assert "mass" in str(error)
assert [solve(mass) for mass in (0.5, 0.6)] == here
print("ok")
"""

# Children of a process in which another thread solves, or has solved and waits.
THREADS = HEAD + """
import threading
def solve(mass): return bits(staghorn.Session(path, device="cpu").solve(mass, "point:0,0,0,0")[0])
here, end = solve(0.5), threading.Event()
def work():
    assert solve(0.5) == here
    solved.set()
    while sys.argv[2] == "solves" and not end.is_set(): solve(0.5)
    end.wait()
solved = threading.Event()
thread = threading.Thread(target=work, daemon=True)
thread.start()
solved.wait()
for _ in range(6):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if solve(0.5) == here else 1)
    assert os.waitpid(child, 0)[1] == 0
end.set()
thread.join()
print("ok")
"""

CONTEXTS = HEAD + """
context = staghorn.Context(path, threads=2, device="cpu")
gauge = context.read(path)
b = np.zeros((*gauge.context.local[::-1], 3), complex)
b[0, 0, 0, 0, 0] = 1
def solve(mass): return bits(gauge.solve(mass, b)[0])
def solve_in_own(mass): return bits(staghorn.Context(path, threads=2, device="cpu").read(path).solve(mass, b)[0])
def told(mass):
    seen = []
    x, report = gauge.solve(mass, b, progress=lambda *at: seen.append(at))
    return bits(x) if len(seen) > 1 else "not told"
here = [solve(mass) for mass in (0.1, 0.2)]
for work in (solve, solve_in_own, told):
    assert in_children(work, (0.1, 0.2)) == here, work
child = os.fork()
if child == 0:  # ends as a program does, with all that is left behind
    signal.alarm(60)
    sys.exit(0 if solve(0.1) == here[0] else 1)
assert os.waitpid(child, 0)[1] == 0
print("ok")
"""

RANKS = HEAD + """
from mpi4py import MPI
context = staghorn.Context(path, comm=MPI.COMM_WORLD, threads=2, device="cpu")
gauge = context.read(path)
b = np.zeros((*gauge.context.local[::-1], 3), complex)
b[0, 0, 0, 0, 0] = 1
here = bits(gauge.solve(0.1, b)[0])
def refused(work):
    try:
        return work()
    except staghorn.Error as error:
        return f"{error.kind} {error}"
child = os.fork()
if child == 0:
    signal.alarm(60)
    text = refused(lambda: gauge.solve(0.1, b))
    assert text.startswith("state context: expected a call from the process that made it, found a child that was forked"), text
    text = refused(lambda: staghorn.Context(path, comm=MPI.COMM_SELF, device="cpu"))
    assert text.startswith("mpi MPI: expected to be initialised in this process, found that of the parent"), text
    assert refused(lambda: bits(staghorn.Context(path, threads=2, device="cpu").read(path).solve(0.1, b)[0])) == here
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert bits(gauge.solve(0.1, b)[0]) == here
print("ok")
"""


def run(code, *arguments, threads=2):
    environment = {**os.environ, "PYTHONPATH": str(Path(staghorn.__file__).parent.parent), "OMP_NUM_THREADS": str(threads)}
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=250, env=environment)
    assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr


def test_sessions_and_files_work_in_children(small_gauge, tmp_path):
    run(SESSIONS, small_gauge, tmp_path)


def test_contexts_work_in_children(small_gauge):
    run(CONTEXTS, small_gauge)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("other", ["waits", "solves"])
def test_children_of_a_process_with_threads_solve(small_gauge, other, threads):
    run(THREADS, small_gauge, other, threads=threads)


@pytest.mark.skipif(not built_with_mpi(), reason="a build without MPI")
def test_children_cannot_use_the_communicator_of_their_parent(small_gauge):
    pytest.importorskip("mpi4py")
    run(RANKS, small_gauge)
