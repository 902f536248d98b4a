"""Figures of `staghorn bench` and `staghorn solve` on this machine, as gpu/measure.py asks for them and docs/figures/ keeps them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from launcher import launcher_of

SMALL, MIDDLE, LARGE = (16, 16, 16, 32), (24, 24, 24, 48), (32, 32, 32, 64)
LARGE_HOP, LARGEST = (48, 48, 48, 48), (48, 48, 48, 96)
FURTHER = ((28, 28, 28, 96), (36, 36, 36, 48), (64, 64, 64, 96))  # shapes and sizes of production beside these
CPU_LARGE, EACH_GPU = (32, 32, 32, 16), (32, 32, 32, 32)
BYTES = {"fp64": 8, "fp32": 4, "fp16": 2}
LINKS = (18, 12, 8)
NAIK = (18, 13)  # reals of a Naik link, beside fat links of 18
MANY_RHS = (3, 4, 8, 16)
MIXED = {"fp64 12": "--sloppy none --links 12", "fp64/fp32 12": "--sloppy fp32", "fp64/fp32 8": "--sloppy fp32 --sloppy-links 8",
         "fp64/fp16 12": "--sloppy fp16", "fp64/fp16 18": "--sloppy fp16 --sloppy-links 18"}


class Timed(NamedTuple):
    """What a figure of `staghorn bench` is of."""

    what: str  # "hop", "cg iteration" or "cg iteration, cublas"
    lattice: tuple[int, ...]
    precision: str
    links: int
    rhs: int = 1
    naik: int = 0  # reals of a Naik link; 0: naive quarks, which have none


class ProgramFailed(Exception):
    """The program ended with another status than 0."""


class Figures:
    """Runs the program and keeps its figures."""

    def __init__(self, program: str, folder: Path, device: str = "cuda", seconds: float = 0.2, stream_mib: int | None = None):
        self.program, self.folder, self.device, self.seconds = program, folder, device, seconds
        self.stream = [] if stream_mib is None else ["--stream-mib", stream_mib]
        self.bench_rows: dict[Timed, dict] = {}  # those of the program, with "stream" and "copy" in GB/s
        self.scaling_rows: list[dict] = []  # those of `bench scaling`
        self.solves: dict[str, dict] = {}  # iterations, updates, microseconds an iteration
        self.sweeps: dict[tuple[int, ...], float] = {}  # seconds a heatbath sweep
        self.last_bench: dict = {}  # the JSON of the last benchmark: machine, compiler, date

    def run(self, *words, launcher=()) -> str:
        start = time.monotonic()
        words = [str(word) for word in words]
        done = subprocess.run([*launcher, self.program, *words, "--device", self.device], capture_output=True, text=True,
                              env={**os.environ, **launcher_of(self.program).variables})
        print(f"{time.monotonic() - start:6.1f} s  staghorn {' '.join(words)}", file=sys.stderr, flush=True)
        if done.returncode:
            raise ProgramFailed(f"it ended with status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def bench(self, what: str, lattice, *options, precisions=tuple(BYTES), links=LINKS, rhs=1):
        path = self.folder / f"bench-{len(list(self.folder.glob('bench-*'))):02}.json"
        self.run("bench", what, "--lattice", *lattice, "--precision", ",".join(precisions), "--links",
                 ",".join(map(str, links)), "--rhs", rhs, "--seconds", self.seconds, "--tuning", "off", "--json", path,
                 *self.stream, *options)
        self.last_bench = found = json.loads(path.read_text())
        for row in found["results"]:
            key = Timed(row["what"], tuple(lattice), row["precision"], row["links"], row["rhs"], row.get("naik_links") or 0)
            self.bench_rows[key] = {**row, "stream": found["stream_read_gb_s"], "copy": found["copy_gb_s"]}

    def scaling(self, ranks: int, *lattice_options):
        path = self.folder / f"bench-{len(list(self.folder.glob('bench-*'))):02}.json"
        self.run("bench", "scaling", *lattice_options, "--precision", "fp64,fp32", "--links", 12, "--seconds", self.seconds,
                 "--tuning", "off", "--json", path, *self.stream, launcher=launcher_of(self.program).command(ranks))
        self.last_bench = json.loads(path.read_text())
        self.scaling_rows += self.last_bench["results"]

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
        """The floor of docs/performance.md, (16 R + 60 n) w bytes a site of one parity at the stream, over the time. R counts
        the reals of a fat link and of a Naik link together, for a hop of improved quarks has 8 legs of each."""
        if timed not in self.bench_rows:
            return None
        x, y, z, t = timed.lattice
        floor_bytes = (16 * (timed.links + timed.naik) + 60 * timed.rhs) * BYTES[timed.precision] * (x * y * z * t // 2)
        return floor_bytes / (self.bench_rows[timed]["stream"] * 1e3) / self.us(timed)


    # --- what docs/figures/ keeps ---

    def origin(self) -> dict:
        """Machine, compiler, date and streaming read."""
        made, on_gpu = self.last_bench["provenance"], self.last_bench["device"] != "cpu"
        rows = list(self.bench_rows.values()) or [{"stream": self.last_bench["stream_read_gb_s"], "copy": self.last_bench["copy_gb_s"]}]
        machine = self.last_bench["device"] if on_gpu else f"{made['processor']}, {self.last_bench['threads']} threads"
        rates = {name: [round(pick(row[key] for row in rows), 1) for pick in (min, max)]
                 for name, key in (("stream_gb_s", "stream"), ("copy_gb_s", "copy"))}
        return {"machine": machine, "compiler": made["build"].split(",")[0], "date": made["started"][:10], **rates}

    def kept(self) -> dict:
        """The figures of one machine, as docs/figures/cpu.json and gpu.json have them."""
        rows = []
        for timed, found in self.bench_rows.items():
            named = {name: value for name, value in timed._asdict().items() if name != "naik" or value}
            row = {**named, "us": round(found["microseconds"], 2), "of_stream": round(found["fraction_of_stream"], 4)}
            if timed.what == "cg iteration" and timed.precision != "fp16":
                row["of_floor"] = round(self.of_floor(timed), 4)
            rows.append(row)
        return {**self.origin(), "rows": rows, "solves": self.solves}

    def kept_of_several(self) -> dict:
        """One measurement as docs/figures/several-gpus.json has it."""
        rows: dict[tuple, dict] = {}
        for found in self.scaling_rows:
            lattice = found["lattice"] if found["series"] == "strong" else found["local_lattice"]
            key = (found["series"], tuple(lattice), found["precision"])
            row = rows.setdefault(key, {"series": key[0], "lattice": lattice, "precision": key[2], "links": found["links"], "us": {}})
            row["us"][str(found["ranks"])] = round(found["microseconds"], 2)
        return {**self.origin(), "rows": list(rows.values())}
