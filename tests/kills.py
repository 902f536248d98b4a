"""Kills jobs at random times and lets them go on elsewhere, until they are done: their files have the bytes of jobs in one piece.

    python tests/kills.py                                    # 50 kills by SIGTERM, 50 by SIGKILL
    python tests/kills.py --kills 5 --jobs eigen sources --seed 7
    python tests/kills.py --device cuda                      # every second launch on a GPU

A job is launched on a place of PLACES, which is drawn each time, and gets a signal at a time that is drawn too. Under mpirun one
rank gets it. It is launched again with --resume until it ends by itself. After some kills a byte of the last state is flipped,
or its end is cut off. Exit status 1 where a file differs, a status is none of those that are documented. A flipped bit that goes unnoticed lies where the file holds nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from launcher import launcher_of, ranks_command
from program_under_test import PROGRAM
from running_jobs import is_alive, ranks_below, wait_until_gone

ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1795199983", "STAGHORN_TUNING": "off", "OMP_WAIT_POLICY": "passive", **launcher_of().variables}
PLACES = [  # ranks, threads, options; 4x6x8x10
    (1, 1, []),
    (1, 2, ["--loopback", "xt"]),
    (2, 1, ["--grid", "1,1,2,1"]),
    (4, 1, ["--grid", "2,1,2,1"]),
]
SOURCES = ["--sources", "z2:1; point:0,1,2,3; gaussian:4", "--batch", "2"]
JOBS = {
    "cg": ["solve", "--sloppy", "none", "--mass", "0.005", "--source", "z2:1", "--noise-vectors", "3"],
    "mixed": ["solve", "--mass", "0.005", "--sloppy", "fp16", "--links", "12", "--source", "z2:1", "--noise-vectors", "3"],
    "block": ["solve", "--mass", "0.005", "--solver", "block", "--sloppy", "fp32", "--source", "z2:1", "--noise-vectors", "4"],
    "masses": ["solve", "--masses", "0.01,0.02,0.05", "--source", "z2:1", "--sloppy", "fp32", "--system", "even"],
    "masses-close": ["solve", "--masses", "0.02,0.021,0.022,0.023", "--source", "z2:1", "--sloppy", "fp32"],
    "deflated": ["solve", "--sloppy", "none", "--mass", "0.001", "--eigenvectors", "PAIRS", "--system", "odd", "--source", "z2:1", "--noise-vectors", "2"],
    "sources": ["solve", "--mass", "0.02", "--sloppy", "fp32", *SOURCES],
    "batches": ["solve", "--sloppy", "none", "--mass", "0.02", "--solver", "block", *SOURCES],
    "eigen": ["eigen", "--pairs", "24"],
}
NAMES = {signal.SIGTERM: "SIGTERM", signal.SIGKILL: "SIGKILL"}


@dataclass
class Tally:
    """What happened to the jobs of one kind."""

    kills: dict[str, int] = field(default_factory=lambda: {"SIGTERM": 0, "SIGKILL": 0})
    with_state: int = 0  # kills that left a state behind
    finished: int = 0    # jobs that reached their end, each compared
    damaged: int = 0     # damaged states from which a job was to go on to its end, and those of them that it noticed
    noticed: int = 0
    faults: list[str] = field(default_factory=list)


class Job:
    """One kind of job in a folder of its own: `plain` is the file of a job in one piece, and `seconds` what that took."""

    def __init__(self, name: str, folder: Path, gauge: Path, pairs: Path):
        self.folder = folder
        folder.mkdir()
        self.options = [str(pairs) if option == "PAIRS" else option for option in JOBS[name]]
        self.options[1:1] = ["--gauge", str(gauge)]
        self.plain, self.output, self.state = folder / "plain.h5", folder / "x.h5", folder / "state.h5"
        begin = time.monotonic()
        finish([str(PROGRAM), *self.options, "--output", str(self.plain), "--quiet"])
        self.seconds = time.monotonic() - begin

    def launch(self, place: tuple[int, int, list[str]], device: str) -> subprocess.Popen:
        ranks, threads, options = place
        return subprocess.Popen(
            [*ranks_command(ranks), str(PROGRAM), *self.options, *options, "--device", device, "--output", str(self.output), "--force",
             "--checkpoint", str(self.state), "--checkpoint-every", "0", "--resume"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": str(threads)})

    def clear(self) -> None:
        for path in self.folder.iterdir():
            if path != self.plain:
                path.unlink()


def finish(command: list[str], folder: Path | None = None) -> None:
    result = subprocess.run(command, cwd=folder, env={**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": "1"}, text=True, capture_output=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit status {result.returncode}\n{result.stderr}")


def hit(process: subprocess.Popen, which: signal.Signals, draw: random.Random, ranks: int) -> bool:
    """Sends the signal to the program, or to one of its ranks; whether it was still there."""
    below = ranks_below(process.pid) if ranks > 1 else {0: process.pid}
    if not below or process.poll() is not None:
        return False
    target = below[draw.choice(sorted(below))]
    if not is_alive(target):
        return False
    os.kill(target, which)
    return True


def wait_for_end(process: subprocess.Popen) -> tuple[str, str]:
    """What the job wrote. An mpirun whose ranks are all gone and which waits for itself (PMIx, seen once) is killed."""
    try:
        return process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        if any(map(is_alive, ranks_below(process.pid).values())) or process.args[0] == str(PROGRAM):
            raise
        process.kill()
        return process.communicate()


def damage(path: Path, draw: random.Random) -> None:
    """Cuts the end off, or flips a bit."""
    whole = bytearray(path.read_bytes())
    at = draw.randrange(len(whole))
    if draw.random() < 0.5:
        path.write_bytes(whole[:at])
    else:
        whole[at] ^= 1 << draw.randrange(8)
        path.write_bytes(whole)


def run_to_the_end(job: Job, which: signal.Signals, most: int, tally: Tally, draw: random.Random, devices: list[str]) -> None:
    """Kills a job up to `most` times, then lets it end, and compares."""
    job.clear()
    damaged = False
    for kill in range(most + 1):
        place, device = draw.choice(PLACES), draw.choice(devices)
        if device != "cpu":
            place = PLACES[0]
        process = job.launch(place, device)
        was_hit = False
        if kill < most:
            time.sleep(draw.uniform(0, (1.0 if place[0] == 1 else 1.5) * job.seconds))
            was_hit = hit(process, which, draw, place[0])
            below = list(ranks_below(process.pid).values())
        out, err = wait_for_end(process)
        status = process.returncode
        if damaged and status == 0:  # jobs say it when they end
            tally.damaged += 1
            tally.noticed += "warning:" in out
        damaged = False
        if was_hit:
            tally.kills[NAMES[which]] += 1
            tally.with_state += job.state.exists()
            wait_until_gone(below)
        if status == 0:
            break
        # One rank: its own status. SIGTERM before the program watches for it ends it as any program. mpirun has its own.
        expected = {-9} if which == signal.SIGKILL else {5, -15}
        if not was_hit or (place[0] == 1 and status not in expected):
            tally.faults.append(f"{which.name}, {place}: exit status {status}: {[line for line in err.splitlines() if line.startswith('staghorn')]}")
            return
        if job.output.exists() and job.output.read_bytes() != job.plain.read_bytes():  # killed after its last step
            tally.faults.append(f"{which.name}: {job.output.name} is there, and it is not whole")
            return
        if job.state.with_name("state.h5.1").exists() and draw.random() < 0.2:  # without that one the job is refused
            damage(job.state, draw)
            damaged = True
    tally.finished += 1
    if job.output.read_bytes() != job.plain.read_bytes():
        kept = job.folder.parent / f"different-{job.folder.name}-{tally.finished}.h5"
        shutil.copy(job.output, kept)
        tally.faults.append(f"{which.name}: the bytes are others than those of the job in one piece: {kept}")


def run(folder: Path, kills: int, jobs: list[str], seed: int, device: str = "cpu",
        in_a_row: int = 3) -> dict[str, Tally]:
    """`kills` by each signal, in turn among the jobs, up to `in_a_row` of one job. Returns what happened, job by job."""
    draw = random.Random(seed)
    gauge, pairs = folder / "gauge.h5", folder / "pairs.h5"
    finish([str(PROGRAM), *"generate --lattice 4 6 8 10 --beta 6 --sweeps 10 --seed 5 --device cpu --quiet --output".split(), str(gauge)])
    if "deflated" in jobs:
        finish([str(PROGRAM), *"eigen --pairs 12 --storage fp16 --quiet --gauge".split(), str(gauge), "--output", str(pairs)])
    made = {name: Job(name, folder / name, gauge, pairs) for name in jobs}
    tallies = {name: Tally() for name in jobs}
    for which in NAMES:
        turn = 0
        while (left := kills - sum(tally.kills[which.name] for tally in tallies.values())) > 0 and turn < 20 * kills:
            name = jobs[turn % len(jobs)]
            turn += 1
            run_to_the_end(made[name], which, min(left, in_a_row), tallies[name], draw, ["cpu", device])
    return tallies


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--kills", type=int, default=50, help="by each signal")
    words.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--device", default="cpu", help="of every second launch, on one rank")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tallies = run(Path(folder), given.kills, given.jobs, given.seed, given.device)
        print(f"{'job':10} {'SIGTERM':>8} {'SIGKILL':>8} {'with state':>11} {'ended, same bytes':>18} {'damaged':>8} {'noticed':>8}")
        for name, tally in tallies.items():
            print(f"{name:10} {tally.kills['SIGTERM']:8} {tally.kills['SIGKILL']:8} {tally.with_state:11} "
                  f"{tally.finished:18} {tally.damaged:8} {tally.noticed:8}")
    faults = [f"{name}: {fault}" for name, tally in tallies.items() for fault in tally.faults]
    print("\n".join(faults) or "no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
