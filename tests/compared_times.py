"""`./dev measure --compare`: times that are compared with each other, each beside what is asked of it. No test does that: a test
must not fail because something else runs on the machine.

A row needs two cores, two processes of MPI, a GPU or two; without them it is left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from launcher import launcher_of, ranks_command

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(os.environ.get("STAGHORN_PROGRAM", ROOT / "build" / "staghorn"))
GAUGE = ROOT / "configs" / "quenched_8x8x8x16_b5.70.nersc"
CORES = len(os.sched_getaffinity(0))


def run(*words, ranks=1, program=PROGRAM, **environment) -> str:
    """What a program prints. Raises CalledProcessError where it fails."""
    environment = {**os.environ, **launcher_of(Path(program)).variables, **environment}
    return subprocess.run([*ranks_command(ranks, Path(program)), str(program), *map(str, words)], capture_output=True, text=True, check=True, env=environment).stdout


def report_of(folder: Path, *words, **how) -> dict:
    """The JSON of `bench --json` or `solve --report`."""
    path = folder / "report.json"
    run(*words, "--json" if words[0] == "bench" else "--report", path, "--force", **how)
    return json.loads(path.read_text())


def shares(folder: Path):
    """Rank 1 is slowed to a third. With a grid both ranks work. A part of 0.4 MB fits into a cache of its core alone."""
    found = []
    for _ in range(5):
        of = report_of(folder, "bench", "shares", "--lattice", 4, 4, 8, 32, "--slow-device", "1:3", "--precision", "fp32", "--links", 12,
                       "--grid", "1,1,1,2", ranks=2, OMP_NUM_THREADS="1")["shares"]
        if of["rows"]:  # none where both ranks were found alike, in a busy moment
            chosen, best = of["chosen"], min(row["microseconds"] for row in of["rows"])
            found.append((chosen["share"], chosen["microseconds"] / best, of["even"]["microseconds"] / chosen["microseconds"]))
    share, over_best, gain = (median(values) for values in zip(*found))
    yield "shares auto, a rank slowed by 3: its share", share, 0.12, 0.28
    yield "the chosen slabs over the best", over_best, 0, 1.1
    yield "even slabs over the chosen", gain, 1.3, None


def busy_machine(folder: Path):
    """A busy process for each core. Threads that spin for milliseconds take more than ten times as long as one thread."""
    def seconds(threads):
        return report_of(folder, "solve", "--gauge", GAUGE, "--mass", 0.05, "--sloppy", "none", "--source", "point:0,0,0,0", "--color", 0, "--device", "cpu",
                         OMP_NUM_THREADS=str(threads))["seconds"]["solve"]

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(CORES)]
    try:
        one, two = (min(times) for times in zip(*[(seconds(1), seconds(2)) for _ in range(2)]))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    yield "two threads over one, on a busy machine", two / one, 0, 2.5


def two_clocks(folder: Path):
    """`bench` takes the best of ten batches, a report the average."""
    report = report_of(folder, "solve", "--gauge", GAUGE, "--mass", 0.05, "--sloppy", "none", "--color", 0)
    (row,) = report_of(folder, "bench", "cg", "--lattice", 8, 8, 8, 16, "--precision", "fp64", "--links", 18)["results"]
    yield "an iteration of bench over one of a solve", row["microseconds"] * report["rhs"][0]["iterations"] * 1e-6 / report["seconds"]["solve"], 0.05, 2


def faces(folder: Path):
    found = report_of(folder, "bench", "exchange", "--lattice", 8, 8, 8, 8, "--grid", "1,1,1,2", "--precision", "fp32", "--links", 12,
                      "--device", "cpu", ranks=2)
    within = {row["what"].strip(): row["microseconds"] for row in found["results"]}
    exchange = found["results"][0]["faces"]["exchange_microseconds"]
    yield "faces alone over faces within a hop", exchange / (within["pack, no overlap"] + within["wait, no overlap"]), 0, 3
    times = report_of(folder, "solve", "--gauge", GAUGE, "--mass", 0.05, "--sloppy", "none", "--color", 0, "--overlap", "off", "--device", "cpu", ranks=2)["times"]
    (row,) = (row for row in times if row["phase"] == "communication")
    yield "communication that is hidden without overlap", row["hidden_share"], 0, 0.05


def faces_of_gpus(folder: Path, ranks: int):
    """Large faces: stored by kernels, beside plain copies of the same bytes; sums in kernels, beside those through the host."""
    how = ["--grid", "1,1,1,2", "--transport", "p2p"] if ranks == 2 else ["--loopback", "t"]
    found = report_of(folder, "bench", "exchange", "--lattice", 48, 48, 48, 8, "--device", "cuda", "--precision", "fp64", "--links", 12,
                      "--rhs", 2, *how, ranks=ranks)["results"][0]["faces"]
    where = "between two GPUs" if ranks == 2 else "on one GPU"
    yield f"rate of stored faces over that of copies, {where}", found["stored_share_of_copied"], 0.7 if ranks == 2 else 0.4, 1.5
    yield f"an exchange over the kernel that stores, {where}", found["exchange_microseconds"] / found["stored_microseconds"], 0.7, None
    if ranks == 2:
        yield "a sum in kernels over one through the host", found["sum_in_kernels_microseconds"] / found["sum_through_host_microseconds"], 0, 1


def phases_of_gpus(folder: Path):
    """What is not hidden of computing, packing, communication and sums follows one another and fills the solve."""
    for transport in ("staged", "mapped"):
        report = report_of(folder, "solve", "--gauge", GAUGE, "--mass", 0.05, "--sloppy", "none", "--device", "cuda:0", "--transport", transport, ranks=2)
        rows = {row["phase"]: row for row in report["times"]}
        compute, communication = rows["compute"]["seconds"], rows["communication"]["seconds"]
        hidden = rows["communication"]["hidden_share"] * min(compute, communication)
        filled = compute + rows["gather"]["seconds"] + communication - hidden + rows["sums"]["seconds"]
        yield f"phases over the solve, {transport}", filled / report["seconds"]["solve"], 0.3, 1.5


def hashes_of_milc(folder: Path):
    """200 iterations at 32^3 x 64, links unchanged: a call does not wait for its hash."""
    for precision in (1, 2):
        text = run(precision, 32, 32, 32, 64, program=PROGRAM.parent / "milc_overhead")
        first, beside = (float(re.search(rf"hashes {when}: .*?iterations [\d.]+ ms, [\d.]+ us each: beside them ([\d.]+) ms", text)[1])
                         for when in ("first", "beside"))
        hashed, waited = map(float, re.search(r"unchanged in ([\d.]+) s beside the solve, which waited ([\d.]+) s", text).groups())
        yield f"MILC, precision {precision}: a call with its hash beside over one with its hash first", beside / first, 0, 1
        yield f"MILC, precision {precision}: what a call waits of its hash", waited / hashed, 0, 0.1


def verdict(found: float, least: float, most: float | None) -> str:
    return "met" if least <= found and (most is None or found <= most) else "**missed**"


def main():
    gpus = len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines()) if shutil.which("nvidia-smi") else 0
    mpi = launcher_of().path is not None
    rows = [(two_clocks, (), True), (busy_machine, (), CORES > 1), (shares, (), mpi and CORES > 1), (faces, (), mpi and CORES > 1),
            (faces_of_gpus, (1,), gpus > 0), (faces_of_gpus, (2,), mpi and gpus > 1), (phases_of_gpus, (), mpi and gpus > 0),
            (hashes_of_milc, (), gpus > 0 and (PROGRAM.parent / "milc_overhead").is_file())]
    print("| | found | asked | |\n| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for measure, arguments, possible in rows:
            if not possible:
                print(f"| {measure.__name__.replace('_', ' ')} | | | left out on this machine |")
                continue
            for what, found, least, most in measure(Path(folder), *arguments):
                asked = f"{least} or more" if most is None else f"{least} to {most}"
                print(f"| {what} | {found:.3g} | {asked} | {verdict(found, least, most)} |", flush=True)


if __name__ == "__main__":
    main()
