"""How a solve converged: the relative residual over iterations, as text for a terminal or as a PNG.

    python -m staghorn.plot report.json [--png residuals.png]
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys


def residual_plot(report: dict, width: int = 78, height: int = 16, ascii_only: bool = False) -> str:
    """The histories of all right-hand sides as lines of text; log10 of |r| / |b| upwards, iterations to the right.

    `width` counts whole lines, `height` the rows of the plot. The dashed line is the tolerance.
    """
    histories = [rhs["history"] for rhs in report["rhs"] if rhs["history"]]
    if not histories:
        return "no residual history in this report"
    mark, rule, bar = ("*", "-", "|") if ascii_only else ("•", "╌", "│")
    columns = width - 8
    last = max(1, max(len(h) for h in histories) - 1)
    values = [r for h in histories for r in h if r > 0]
    top, bottom = math.ceil(math.log10(max(values))), math.floor(math.log10(min([*values, report["tolerance"]])))
    bottom = min(bottom, top - 1)

    def row_of(residual: float) -> int:
        return round((top - math.log10(residual)) / (top - bottom) * (height - 1))

    canvas = [[" "] * columns for _ in range(height)]
    canvas[row_of(report["tolerance"])] = [rule] * columns
    for history in histories:
        for iteration, residual in enumerate(history):
            if residual > 0:
                canvas[row_of(residual)][round(iteration / last * (columns - 1))] = mark
    labels = {row_of(10.0**e): f"1e{e:+03d}" for e in range(top, bottom - 1, -max(1, math.ceil((top - bottom) / (height // 2))))}
    lines = [f"{labels.get(row, ''):>6} {bar}{''.join(cells)}".rstrip() for row, cells in enumerate(canvas)]
    title = f"|b - A x| / |b|, {len(histories)} solve{'s' * (len(histories) > 1)}"
    lines = [f"{'':8}{title}", *lines, f"{'':8}0{last:>{columns - 1}}"]
    return "\n".join(lines)


def plot_residuals(report: dict, path) -> None:
    """Writes the residual histories to `path` (PNG, or what the name ends in). Needs matplotlib, no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.3), layout="constrained")
    axes = FigureCanvasAgg(figure).figure.add_subplot()
    for index, rhs in enumerate(report["rhs"]):
        name = f"right-hand side {index}" if rhs.get("color") is None else f"colour {rhs['color']}"
        axes.semilogy(rhs["history"], linewidth=1, label=f"{name}: {rhs['iterations']} iterations")
        axes.plot(rhs["iterations"], rhs["residual_true"], "kx", markersize=5)
    axes.axhline(report["tolerance"], color="grey", linestyle="--", linewidth=1, label=f"tolerance {report['tolerance']:g}")
    axes.plot([], [], "kx", markersize=5, label="recomputed in double precision")
    axes.set(xlabel="iteration", ylabel="|b - A x| / |b|", title=describe(report))
    axes.grid(alpha=0.3)
    if len(report["rhs"]) <= 8:
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)


def describe(report: dict) -> str:
    lattice = "x".join(map(str, report["lattice"]))
    return f"{lattice}, m = {report['mass']:g}, {report['precision']}, {report['links']} reals per link: {report['outcome']}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m staghorn.plot", description="Shows how a solve converged.")
    parser.add_argument("report", help="JSON report of `staghorn solve --report`")
    parser.add_argument("--png", metavar="FILE", help="write a PNG too")
    parser.add_argument("--width", type=int, default=min(100, shutil.get_terminal_size((78, 24)).columns))
    options = parser.parse_args(arguments)
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    print(residual_plot(report, width=max(40, options.width), ascii_only=ascii_only))
    if options.png:
        plot_residuals(report, options.png)
    return 0


if __name__ == "__main__":
    sys.exit(main())
