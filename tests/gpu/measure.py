"""`./dev measure FOLDER`: times what docs/performance.md says of this machine, and prints tables.

It measures one GPU where there is one, and else the CPU; with `--ranks N` it measures 1, 2, 4, ... N GPUs. Every figure comes
from `staghorn bench` or `staghorn solve`, whose JSON is kept in FOLDER. With `--write` the figures also go to docs/figures/ and
from there into the tables of docs/performance.md. Interrupted, it prints what it has.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import performance_page  # noqa: E402
from measured_figures import (  # noqa: E402
    BYTES, CPU_LARGE, EACH_GPU, FURTHER, LARGE, LARGE_HOP, LARGEST, LINKS, MANY_RHS, MIDDLE, MIXED, NAIK, SMALL, Figures, ProgramFailed, Timed)
from performance_page import extents  # noqa: E402

def measure_cpu(figures: Figures):
    figures.bench("hop", CPU_LARGE, precisions=("fp64", "fp32"))
    figures.bench("hop", SMALL, precisions=("fp64", "fp32"), rhs=16)
    for lattice in (CPU_LARGE, SMALL):
        figures.bench("cg", lattice)


def measure_several(figures: Figures, ranks: int):
    for lattice in (LARGEST, LARGE, MIDDLE, SMALL):
        figures.scaling(ranks, "--lattice", *lattice)
    figures.scaling(ranks, "--local", *EACH_GPU)


def measure_gpu(figures: Figures):
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
    figures.bench("cg", LARGE, "--blas", "fused", "--action", "hisq", "--naik-links", ",".join(map(str, NAIK)), links=(18,))
    for lattice in FURTHER:
        figures.bench("cg", lattice, "--blas", "fused", links=(12,))


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

    rows = []
    for lattice in FURTHER:
        row = [extents(lattice)]
        for precision in BYTES:
            timed = Timed("cg iteration", lattice, precision, 12)
            row += [number(figures.us(timed)), percent(figures.of_floor(timed))]
        rows.append(row)
    parts.append(markdown("CG iteration, 12 reals, further lattices",
                          ["", *(head for precision in BYTES for head in (f"{precision}: us", "of the floor"))], rows))

    rows = []
    for naik in NAIK:
        row = [f"18 + {naik} reals"]
        for precision in BYTES:
            timed = Timed("cg iteration", LARGE, precision, 18, naik=naik)
            row += [number(figures.us(timed)), percent(figures.of_floor(timed))]
        rows.append(row)
    parts.append(markdown(f"CG iteration, HISQ, {extents(LARGE)}",
                          ["", *(head for precision in BYTES for head in (f"{precision}: us", "of the floor"))], rows))

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


def write(figures: Figures, several: bool):
    """Puts the figures into docs/figures/ and the tables of docs/performance.md."""
    name = "several-gpus" if several else "cpu" if figures.device == "cpu" else "gpu"
    path = performance_page.FIGURES / f"{name}.json"
    kept = figures.kept_of_several() if several else figures.kept()
    if several:  # older measurements stay for numbers of GPUs that this one has not
        now = {n for row in kept["rows"] for n in row["us"]}
        older = [m for m in json.loads(path.read_text())["measurements"] if {n for row in m["rows"] for n in row["us"]} - now]
        kept = {"measurements": [kept, *older]}
    path.write_text(performance_page.dumps(kept))
    performance_page.write_page()


def printed(figures: Figures, several: bool) -> str:
    if several:
        return performance_page.several_table({"measurements": [figures.kept_of_several()]})
    if figures.device == "cpu":
        return performance_page.cpu_table(figures.kept())
    return tables(figures)


def main():
    parser = argparse.ArgumentParser(prog="./dev measure", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="new; JSON of every run and a gauge configuration of 1.2 GB go there")
    parser.add_argument("--seconds", type=float, default=0.2, help="spent on each figure of bench (default: %(default)s)")
    parser.add_argument("--stream-mib", type=int, help="MiB of the streaming read of bench (default: that of bench)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if shutil.which("nvidia-smi") else "cpu",
                        help="what to measure (default here: %(default)s)")
    parser.add_argument("--ranks", type=int, default=1, help="measure 1, 2, 4, ... so many GPUs, not one")
    parser.add_argument("--write", action="store_true", help="write docs/figures/ and the tables of docs/performance.md")
    options = parser.parse_args()
    try:
        options.folder.mkdir(parents=True)
    except FileExistsError:
        sys.exit(f"measure: {options.folder} exists already; name a new folder")
    figures = Figures(os.environ.get("STAGHORN_PROGRAM", "build/staghorn"), options.folder, options.device, options.seconds,
                      options.stream_mib)
    several, failure = options.ranks > 1, None
    try:
        if several:
            measure_several(figures, options.ranks)
        else:
            (measure_cpu if options.device == "cpu" else measure_gpu)(figures)
    except (ProgramFailed, KeyboardInterrupt) as stopped:
        failure = f"measure: {stopped or 'interrupted'}"
    if figures.bench_rows or figures.scaling_rows:
        print(printed(figures, several))
    if options.write and failure is None:
        write(figures, several)
    sys.exit(failure)


if __name__ == "__main__":
    main()
