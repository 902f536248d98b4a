"""Jobs that are killed at random times, and pairs of jobs that write to one name: each file is whole and of one job, whatever happens.

    python tests/pairs.py                              # 200 trials
    python tests/pairs.py --trials 20 --jobs fnal smear --seed 7

A trial takes one kind of JOBS, of which there are two requests, a and b, that write to the same names. It starts in an empty folder
or in one with the files of b, and does what TRIALS says: kills a job and lets it go on, runs both at once, or both after a third
was killed. Then every file under a final name must have the bytes of a or of b, and all of them those of the same one; the last
job that ran alone has ended well; no lock is left. Exit status 1 where that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kills import ENVIRONMENT, finish, hit
from launcher import ranks_command
from program_under_test import PROGRAM, built_with_mpi
from running_jobs import ranks_below, wait_until_gone

REFUSED = "a name that no other job writes to"
SOURCES = {"a": "z2:1; point:0,1,2,3", "b": "z2:8; point:3,2,1,0"}
SOLVE = "solve --gauge {gauge} --mass 0.05 --source z2:{seed} --noise-vectors 3 --force"
# name -> (words of the command, files that belong together). {seed}: 1 for a, 8 for b; {u0}: 0.9 and 0.8; {job}: a and b.
JOBS = {
    "solve": (f"{SOLVE} --output x.h5 --report r.json", ["x.h5", "r.json"]),
    "link": (f"{SOLVE} --output link.h5 --report r.json", ["elsewhere/x.h5", "r.json"]),
    "fnal": ("solve --gauge {gauge} --mass 0.05 --source corner-wall:{t} --force --output x.fnal", ["x.fnal", "x.fnal.info"]),
    "sources": ("solve --gauge {gauge} --mass 0.05 --sources @{job}.txt --batch 2 --checkpoint {job}.state --checkpoint-every 0 --resume "
                "--force --output x.h5 --report r.json", ["x.h5", "r.json"]),
    "eigen": ("eigen --gauge {gauge} --pairs 8 --seed {seed} --force --output e.h5 --report r.json", ["e.h5", "r.json"]),
    "smear": ("smear --gauge {gauge} --action asqtad --u0 {u0} --fat fat.h5 --long long.h5 --device cpu --force", ["fat.h5", "long.h5"]),
    "generate": ("generate --lattice 4 6 8 10 --beta 6 --sweeps 4 --seed {seed} --output q.h5 --device cpu --force", ["q.h5"]),
    "convert": ("convert {gauge_of_job} q.nersc --force", ["q.nersc"]),
    # Both are the same request: a call that begins while another is at work is refused, and a later one goes on.
    "campaign": ("solve --gauge {links}/q_*.h5 --mass 0.2 --source z2:1 --output p_{{n}}.h5 --report c.json",
                 ["p_1.h5", "p_2.h5", "p_3.h5"]),
}
RANKS_TOO = {"solve", "sources", "campaign"}
TRIALS = ["kill", "pair", "pair with a kill", "pair after a kill"]


class Job:
    """Both requests of one kind, in a folder of its own, and what their files hold when nothing disturbs them."""

    def __init__(self, name: str, folder: Path, links: Path):
        self.name, self.folder = name, folder
        words, self.files = JOBS[name]
        self.words = {job: words.format(job=job, seed=1 if job == "a" else 8, t=0 if job == "a" else 5, u0=0.9 if job == "a" else 0.8,
                                        links=links, gauge=links / "q_1.h5", gauge_of_job=links / f"q_{1 if job == 'a' else 2}.h5").split()
                      for job in "ab"}
        self.plain: dict[str, list[bytes]] = {}
        for job in "ba":
            self.clear()
            begin = time.monotonic()
            finish([str(PROGRAM), *self.words[job]], folder)
            self.seconds = time.monotonic() - begin
            self.plain[job] = self.contents()

    def clear(self) -> None:
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)
        (self.folder / "elsewhere").mkdir(parents=True)
        (self.folder / "link.h5").symlink_to("elsewhere/x.h5")
        for job, sources in SOURCES.items():
            (self.folder / f"{job}.txt").write_text(sources.replace("; ", "\n"))

    def contents(self) -> list[bytes]:
        """Of the files that are there; of a report what it says of sources and residuals, as times differ."""
        found = []
        for name in self.files:
            path = self.folder / name
            if not path.exists():
                found.append(b"")
            elif path.suffix == ".json":
                report = json.loads(path.read_text())
                found.append(json.dumps([report.get(key) for key in ("outcome", "source", "rhs", "eigenvalues", "observables")]).encode())
            else:
                found.append(path.read_bytes())
        return found

    def launch(self, job: str, ranks: int = 1) -> subprocess.Popen:
        return subprocess.Popen([*ranks_command(ranks), str(PROGRAM), *self.words[job]], cwd=self.folder, text=True, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env={**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": "1"})

    def fault(self, may_lack: bool) -> str:
        """What is wrong with the files; "" where all there are belong to one job. `may_lack`: some or all need not be there."""
        try:
            found = self.contents()
        except ValueError as error:
            return f"a report that is not whole: {error}"
        if self.name == "campaign":  # each of its files is a job by itself
            fits = all(content in (b"", plain) for content, plain in zip(found, self.plain["a"]))
        else:
            fits = not any(found) or found in self.plain.values()
        if not fits:
            return f"not of one job: {[['absent' if not c else next((j for j in 'ab' if self.plain[j][k] == c), '?')] for k, c in enumerate(found)]}"
        return "" if may_lack or all(found) else "files are missing"

    def locks(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob(".*.lock*"))


def kill(process: subprocess.Popen, which: signal.Signals, draw: random.Random, ranks: int) -> bool:
    """Whether it was still there. Returns when nothing of it is left."""
    was_hit = hit(process, which, draw, ranks)
    below = list(ranks_below(process.pid).values())
    process.communicate(timeout=300)
    wait_until_gone(below)
    return was_hit


def one_trial(job: Job, trial: str, draw: random.Random, tally: Counter) -> str:
    """Does it, and returns what went wrong."""
    job.clear()
    if draw.random() < 0.5:
        finish([str(PROGRAM), *job.words["b"]], job.folder)
    ranks = 2 if job.name in RANKS_TOO and built_with_mpi() and draw.random() < 0.3 else 1
    wait = lambda share: time.sleep(draw.uniform(0, share * job.seconds))  # noqa: E731

    def start_and_kill(which: signal.Signals) -> None:
        process = job.launch("a", ranks)
        wait(1.1 if ranks == 1 else 2)
        tally["kills"] += kill(process, which, draw, ranks)

    if trial == "kill":
        for _ in range(draw.randint(1, 2)):
            start_and_kill(draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            if fault := job.fault(may_lack=True):
                return fault
    if trial == "pair after a kill":
        start_and_kill(signal.SIGKILL)
    if trial.startswith("pair"):
        tally["pairs"] += 1
        first = job.launch("a", ranks)
        if trial != "pair after a kill":  # else both see the lock of the dead one at the same time
            wait(0.5)
        second = job.launch("b")
        if trial == "pair with a kill":
            wait(0.8)
            tally["kills"] += kill(first, signal.SIGKILL, draw, ranks)
        ends = [(process.communicate(timeout=300)[1], process.returncode) for process in (first, second) if process.stderr and not process.stderr.closed]
        for error, status in ends:
            tally["refused"] += REFUSED in error
            if status != 0 and REFUSED not in error:
                return f"exit status {status}: {error}"
        if trial != "pair with a kill" and all(status != 0 for _, status in ends):
            tally["both refused"] += 1  # each held one of the names for a moment
        if fault := job.fault(may_lack=True):
            return fault
    last = job.launch("a")
    error = last.communicate(timeout=300)[1]
    if last.returncode != 0:
        return f"the last job: exit status {last.returncode}: {error}"
    if job.name != "campaign" and job.contents() != job.plain["a"]:
        return "the last job left other files than alone"
    if locks := job.locks():
        return f"locks are left: {locks}"
    return job.fault(may_lack=False)


def run(folder: Path, trials: int, jobs: list[str], seed: int) -> tuple[dict[str, Counter], list[str]]:
    """What happened, by kind of trial, and what went wrong."""
    draw = random.Random(seed)
    links = folder / "links"
    links.mkdir()
    for k in (1, 2, 3):
        finish([str(PROGRAM), *f"generate --lattice 4 6 8 10 --beta 6 --sweeps 2 --seed {k} --device cpu --quiet --output q_{k}.h5".split()], links)
    made = {name: Job(name, folder / name, links) for name in jobs}
    tallies: dict[str, Counter] = {trial: Counter() for trial in TRIALS}
    faults = []
    for n in range(trials):
        name, trial = jobs[n % len(jobs)], TRIALS[(n // len(jobs) + n) % len(TRIALS)]
        tallies[trial]["trials"] += 1
        if fault := one_trial(made[name], trial, draw, tallies[trial]):
            faults.append(f"trial {n}, {name}, {trial}: {fault}")
    return tallies, faults


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--trials", type=int, default=200)
    words.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tallies, faults = run(Path(folder), given.trials, given.jobs, given.seed)
    print(f"{'trial':20} {'trials':>7} {'kills':>7} {'pairs':>7} {'refused':>8} {'both refused':>13}")
    for trial, tally in tallies.items():
        print(f"{trial:20} {tally['trials']:7} {tally['kills']:7} {tally['pairs']:7} {tally['refused']:8} {tally['both refused']:13}")
    print("\n".join(faults) or "no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
