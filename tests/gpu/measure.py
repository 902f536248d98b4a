"""`./dev measure`: times on one GPU what docs/performance.md says of it, and prints its tables, aims first.

Every figure is of `staghorn bench` or `staghorn solve`, whose JSON is kept in the folder given. Interrupted, it prints what it has.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

SMALL, MIDDLE, LARGE = (16, 16, 16, 32), (24, 24, 24, 48), (32, 32, 32, 64)
LARGE_HOP, LARGEST = (48, 48, 48, 48), (48, 48, 48, 96)
BYTES = {"fp64": 8, "fp32": 4, "fp16": 2}
LINKS = (18, 12, 8)
MANY_RHS = (3, 4, 8, 16)
MIXED = {"fp64 12": "--links 12", "fp64/fp32 12": "--sloppy fp32", "fp64/fp32 8": "--sloppy fp32 --sloppy-links 8",
         "fp64/fp16 12": "--sloppy fp16", "fp64/fp16 18": "--sloppy fp16 --sloppy-links 18"}


class Timed(NamedTuple):
    """What a figure of `staghorn bench` is of."""

    what: str  # "hop", "cg iteration" or "cg iteration, cublas"
    lattice: tuple[int, ...]
    precision: str
    links: int
    rhs: int = 1


class ProgramFailed(Exception):
    """The program ended with another status than 0."""


class Figures:
    """Runs the program and keeps its figures."""

    def __init__(self, program: str, folder: Path, device: str = "cuda", seconds: float = 0.2):
        self.program, self.folder, self.device, self.seconds = program, folder, device, seconds
        self.bench_rows: dict[Timed, dict] = {}  # those of the program, with "stream" and "copy" in GB/s
        self.solves: dict[str, dict] = {}  # iterations, updates, microseconds an iteration
        self.sweeps: dict[tuple[int, ...], float] = {}  # seconds a heatbath sweep

    def run(self, *words) -> str:
        start = time.monotonic()
        words = [str(word) for word in words]
        done = subprocess.run([self.program, *words, "--device", self.device], capture_output=True, text=True)
        print(f"{time.monotonic() - start:6.1f} s  staghorn {' '.join(words)}", file=sys.stderr, flush=True)
        if done.returncode:
            raise ProgramFailed(f"it ended with status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def bench(self, what: str, lattice, *options, precisions=tuple(BYTES), links=LINKS, rhs=1):
        path = self.folder / f"bench-{len(list(self.folder.glob('bench-*'))):02}.json"
        self.run("bench", what, "--lattice", *lattice, "--precision", ",".join(precisions), "--links",
                 ",".join(map(str, links)), "--rhs", rhs, "--seconds", self.seconds, "--tuning", "off", "--json", path,
                 *options)
        found = json.loads(path.read_text())
        for row in found["results"]:
            key = Timed(row["what"], tuple(lattice), row["precision"], row["links"], row["rhs"])
            self.bench_rows[key] = {**row, "stream": found["stream_read_gb_s"], "copy": found["copy_gb_s"]}

    def solve(self, name: str, gauge: Path):
        path = self.folder / f"{name.replace('/', '-').replace(' ', '-')}.json"
        self.run("solve", "--gauge", gauge, "--mass", 0.05, "--source", "point:0,0,0,0", "--color", 0, "--tolerance",
                 1e-10, "--tuning", "off", *MIXED[name].split(), "--report", path, "--force")
        report = json.loads(path.read_text())
        iterations = report["rhs"][0]["iterations"]
        self.solves[name] = {"iterations": iterations, "updates": len(report["rhs"][0].get("updates") or []),
                             "us": report["seconds"]["solve"] / iterations * 1e6}

    def generate(self, lattice, gauge: Path, sweeps: int):
        said = self.run("generate", "--lattice", *lattice, "--beta", 6.0, "--sweeps", sweeps, "--seed", 1, "--output",
                        gauge, "--force")
        self.sweeps[lattice] = float(re.search(r"([\d.]+) s each", said)[1])

    # --- what the tables show; None where it was not measured ---

    def us(self, timed: Timed) -> float | None:
        return self.bench_rows[timed]["microseconds"] if timed in self.bench_rows else None

    def of_stream(self, timed: Timed) -> float | None:
        return self.bench_rows[timed]["fraction_of_stream"] if timed in self.bench_rows else None

    def tflops(self, timed: Timed) -> float | None:
        return self.bench_rows[timed]["gflops"] / 1000 if timed in self.bench_rows else None

    def of_floor(self, timed: Timed) -> float | None:
        """The floor of docs/performance.md, (16 R + 60 n) w bytes a site of one parity at the stream, over the time."""
        if timed not in self.bench_rows:
            return None
        x, y, z, t = timed.lattice
        floor_bytes = (16 * timed.links + 60 * timed.rhs) * BYTES[timed.precision] * (x * y * z * t // 2)
        return floor_bytes / (self.bench_rows[timed]["stream"] * 1e3) / self.us(timed)


def measure(figures: Figures):
    for lattice in (LARGE, LARGE_HOP, SMALL):
        figures.bench("hop", lattice)
    figures.bench("hop", LARGE, precisions=("fp64", "fp32"), rhs=16)
    for lattice in (LARGE, MIDDLE, SMALL):
        figures.bench("cg", lattice, "--blas", "fused")
    gauge = figures.folder / "gauge.h5"
    figures.generate(SMALL, gauge, 100)
    figures.generate(LARGE, gauge, 20)
    for name in MIXED:
        figures.solve(name, gauge)
    for rhs in MANY_RHS:
        figures.bench("cg", LARGE, "--blas", "fused", precisions=("fp64", "fp32"), rhs=rhs)
    for lattice in (LARGE, SMALL):
        figures.bench("cg", lattice, "--blas", "cublas", precisions=("fp64", "fp32"), links=(18, 12))
    figures.bench("cg", LARGEST, "--blas", "fused")


class Aim(NamedTuple):
    what: str
    asked: float
    found: float | None
    shown_as: str
    at_least: bool = True  # or at most

    def row(self) -> list:
        def show(x):
            return self.shown_as.format(x)

        if self.found is None:
            return [self.what, show(self.asked), None, "not measured"]
        met = self.found >= self.asked if self.at_least else self.found <= self.asked
        verdict = "met" if met else f"**missed by {abs(self.found / self.asked - 1):.1%}**"
        return [self.what, show(self.asked), show(self.found), verdict]


def aims(figures: Figures):
    """Yields every aim for one GPU."""
    for precision, asked in (("fp64", (0.95, 0.95, 0.90)), ("fp32", (0.93, 0.93, 0.85)), ("fp16", (0.85, 0.85))):
        for links, bound in zip(LINKS, asked):
            for lattice in (LARGE, LARGE_HOP):
                found = figures.of_stream(Timed("hop", lattice, precision, links))
                yield Aim(f"hop {precision} {links}, {extents(lattice)}, of the stream", bound, found, "{:.1%}")
    for precision, bound in (("fp64", 11), ("fp32", 24)):
        found = figures.tflops(Timed("hop", LARGE, precision, 12, 16))
        yield Aim(f"hop {precision} 12, 16 right-hand sides, TF", bound, found, "{:.1f}")
    for precision, bound in (("fp64", 0.92), ("fp32", 0.90)):
        for lattice in (LARGE, LARGEST):
            found = figures.of_floor(Timed("cg iteration", lattice, precision, 12))
            yield Aim(f"CG {precision} 12, {extents(lattice)}, of the floor", bound, found, "{:.1%}")
    found = figures.of_stream(Timed("hop", SMALL, "fp32", 12))
    yield Aim(f"hop fp32 12, {extents(SMALL)}, of the stream", 1, found, "{:.1%}")
    many, few = (figures.us(Timed("hop", LARGE_HOP, "fp64", links)) for links in (18, 12))
    yield Aim("hop fp64, 12 reals against 18, times as fast", 1.4, many / few if many and few else None, "{:.2f}")
    for name, bound in (("fp64/fp32 12", 260), ("fp64/fp16 12", 145)):
        solved, plain = figures.solves.get(name), figures.solves.get("fp64 12")
        yield Aim(f"{name}, whole solve, us an iteration", bound, solved and solved["us"], "{:.1f}", at_least=False)
        ratio = solved["iterations"] / plain["iterations"] if solved and plain else None
        yield Aim(f"{name}, iterations over those of fp64", 1.1, ratio, "{:.3f}", at_least=False)


def extents(lattice) -> str:
    return "x".join(map(str, lattice))


def markdown(title: str, heads: list[str], rows: list[list]) -> str:
    """A table; None is shown as a dash."""
    lines = [heads, ["---"] * len(heads), *rows]
    return f"\n{title}\n\n" + "\n".join("| " + " | ".join("-" if c is None else str(c) for c in row) + " |" for row in lines)


def tables(figures: Figures) -> str:
    def number(x):
        return None if x is None else f"{x:.1f}"

    def percent(x):
        return None if x is None else f"{100 * x:.0f} %"

    kinds = [(precision, links) for precision in BYTES for links in LINKS]
    plain_kinds = [kind for kind in kinds if kind[0] != "fp16"]
    parts = []

    parts.append(markdown("Aims", ["", "asked", "found", ""], [aim.row() for aim in aims(figures)]))

    rows = []
    for kind in kinds:
        row = [f"{kind[0]}, {kind[1]} reals"]
        for lattice in (LARGE, LARGE_HOP, SMALL):
            timed = Timed("hop", lattice, *kind)
            row.append(number(figures.us(timed)))
            if lattice == LARGE:
                found = figures.bench_rows.get(timed)
                row += [round(found["gflops"]), round(found["gb_s"])] if found else [None, None]
            row.append(percent(figures.of_stream(timed)))
        rows.append(row)
    parts.append(markdown("Hop", ["", f"{extents(LARGE)}: us", "GF/s", "GB/s", "of the stream", f"{extents(LARGE_HOP)}: us",
                                  "of the stream", f"{extents(SMALL)}: us", "of the stream"], rows))

    rows = []
    for kind in kinds:
        row = [f"{kind[0]}, {kind[1]} reals"]
        for lattice in (SMALL, MIDDLE, LARGE, LARGEST):
            timed = Timed("cg iteration", lattice, *kind)
            row.append(number(figures.us(timed)))
            if lattice in (LARGE, LARGEST):
                row.append("" if kind[0] == "fp16" else percent(figures.of_floor(timed)))
        rows.append(row)
    parts.append(markdown("CG iteration", ["", f"{extents(SMALL)}: us", f"{extents(MIDDLE)}: us", f"{extents(LARGE)}: us",
                                           "of the floor", f"{extents(LARGEST)}: us", "of the floor"], rows))

    rows = [[f"{precision}, {links} reals",
             *(number(figures.us(Timed("cg iteration, cublas", lattice, precision, links))) for lattice in (LARGE, SMALL))]
            for precision in ("fp64", "fp32") for links in (18, 12)]
    parts.append(markdown("CG iteration by cuBLAS", ["", f"{extents(LARGE)}: us", f"{extents(SMALL)}: us"], rows))

    rows = [["hop, 16", *(number(figures.us(Timed("hop", LARGE, *kind, 16))) for kind in plain_kinds)]]
    rows += [[f"CG, {rhs}", *(number(figures.us(Timed("cg iteration", LARGE, *kind, rhs))) for kind in plain_kinds)]
             for rhs in MANY_RHS]
    parts.append(markdown(f"Many right-hand sides, {extents(LARGE)}, us", ["", *(f"{p} {r}" for p, r in plain_kinds)], rows))

    rows = [[name, f"`{MIXED[name]}`", f"{solved['iterations']}, {solved['updates']}", number(solved["us"])]
            for name, solved in figures.solves.items()]
    parts.append(markdown("Whole solves to 1e-10 at mass 0.05, divided by their iterations",
                          ["", "options", "iterations, updates", "us an iteration"], rows))

    parts.append(markdown("Heatbath", ["", "seconds a sweep"],
                          [[extents(lattice), f"{seconds:.4f}"] for lattice, seconds in figures.sweeps.items()]))
    for name, key in (("Streaming read", "stream"), ("Copy", "copy")):
        if rates := [row[key] for row in figures.bench_rows.values()]:
            parts.append(f"\n{name} {min(rates):.0f} to {max(rates):.0f} GB/s.")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="./dev measure", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="new; JSON of every run and a gauge configuration of 1.2 GB go there")
    parser.add_argument("--seconds", type=float, default=0.2, help="spent on each figure of bench (default: %(default)s)")
    options = parser.parse_args()
    try:
        options.folder.mkdir(parents=True)
    except FileExistsError:
        sys.exit(f"measure: {options.folder} exists already; name a new folder")
    figures = Figures(os.environ.get("STAGHORN_PROGRAM", "build/staghorn"), options.folder, seconds=options.seconds)
    try:
        measure(figures)
        failure = None
    except (ProgramFailed, KeyboardInterrupt) as stopped:
        failure = f"measure: {stopped or 'interrupted'}"
    if figures.bench_rows:
        print(tables(figures))
    sys.exit(failure)


if __name__ == "__main__":
    main()
