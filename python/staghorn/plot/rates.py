"""How fast kernels are beside what the machine can do: the roofline, and times over ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import Error
from .figures import MARKERS, color, new_axes, style, styled
from .reports import Reports, reports_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def roofline(reports: Reports, *, ax: Axes | None = None, peak_gflops: float | None = None, width: str = "column",
             figsize: tuple[float, float] | None = None) -> Axes:
    """Draws the rates of kernels under the roof of the memory, from reports of `staghorn bench --json`.

    Across: flops for each byte of minimal traffic. Up: GF/s. The roof is the streaming read that the same process measured, and
    `peak_gflops` if it is given. Arguments else as of `residuals`. Returns the axes. Raises Error.
    """
    found = reports_of(reports, "roofline", "results")
    streams = [float(report.get("stream_read_gb_s", 0.0)) for report in found]
    rows = [(k, row) for k, report in enumerate(found) for row in report["results"] if row.get("gflops") and row.get("gb_s")]
    if not rows or min(streams) <= 0:
        raise Error("roofline: expected rows with gflops and gb_s, and stream_read_gb_s, as of `staghorn bench hop`", "argument")
    intensities = [row["gflops"] / row["gb_s"] for _, row in rows]
    low, high = min(intensities) / 1.6, max(intensities) * 1.6
    kinds = sorted({(row["what"], row["precision"]) for _, row in rows}, key=lambda kind: (kind[0], -int(kind[1][2:])))
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * (len(kinds) + len(streams)), figsize=figsize)
        for k, stream in enumerate(streams):
            across = [low, high]
            if peak_gflops:
                across = sorted({low, min(max(low, peak_gflops / stream), high), high})
            axes.plot(across, [min(stream * one, peak_gflops or float("inf")) for one in across], color="0.35",
                      linestyle=("-", "--", ":")[k % 3], label=f"streaming read, {stream:.4g} GB/s")
        for (k, row), intensity in zip(rows, intensities):
            place = kinds.index((row["what"], row["precision"]))
            axes.plot([intensity], [row["gflops"]], MARKERS[k % len(MARKERS)], color=color(place), zorder=3)
            axes.annotate(_reals(row), (intensity, row["gflops"]), xytext=(3, -7), textcoords="offset points", fontsize=6)
        for place, (what, precision) in enumerate(kinds):
            axes.plot([], [], MARKERS[0], color=color(place), label=f"{what}, {precision}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        _plain_ticks(axes)
        styled(axes, "flop per byte of minimal traffic", "GF/s", title="numbers: reals a link")
    return axes


def _reals(row: dict[str, Any]) -> str:
    links = "" if row.get("links") is None else str(row["links"])
    return links + (f"+{row['naik_links']}" if row.get("naik_links") else "")


@checked
def scaling(reports: Reports, *, ax: Axes | None = None, width: str = "column", figsize: tuple[float, float] | None = None) -> Axes:
    """Draws the time of one iteration of CG over the number of ranks, beside the ideal.

    reports  of `staghorn bench scaling --json`, or several solves on different numbers of ranks

    A series is what shares precision, reals a link and lattice (ideal: time over ranks) or local lattice (ideal: the same time).
    Other arguments as of `residuals`. Returns the axes. Raises Error.
    """
    found = reports_of(reports, "scaling", "results", "rhs")
    points = [point for report in found for point in _points(report)]
    series: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in points:
        series.setdefault(tuple(map(str, point["series"])), []).append(point)
    if not any(len({point["ranks"] for point in row}) > 1 for row in series.values()):
        raise Error(f"scaling: expected a lattice on several numbers of ranks, found {len(points)} points that do not compare", "argument")
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * (len(series) + 1), figsize=figsize)
        for k, (name, row) in enumerate(series.items()):
            row.sort(key=lambda point: int(point["ranks"]))
            ranks = [int(point["ranks"]) for point in row]
            first = row[0]
            ideal = [first["microseconds"] * (ranks[0] / n if name[0] == "strong" else 1) for n in ranks]
            share = 100 * ideal[-1] / row[-1]["microseconds"]
            axes.plot(ranks, [point["microseconds"] for point in row], "-" + MARKERS[k % len(MARKERS)], color=color(k),
                      label=", ".join(name[1:]) + f": {share:.0f} % on {ranks[-1]}")
            axes.plot(ranks, ideal, ":", color=color(k), linewidth=0.8)
        axes.plot([], [], ":", color="0.4", linewidth=0.8, label="ideal")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        _plain_ticks(axes)
        axes.set_xticks(sorted({int(point["ranks"]) for point in points}))
        axes.minorticks_off()
        axes.margins(0.1, 0.15)
        styled(axes, "ranks", "one iteration of CG [µs]")
    return axes


def _points(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Points of a bench report, or the one of a solve, with `series`: strong or weak, then words."""
    if report.get("results"):
        rows = [row for row in report["results"] if row.get("ranks") and row.get("microseconds")]
        return [{**row, "series": (_kind(row), _extents(row), row["precision"], f"{_reals(row)} reals a link")} for row in rows]
    iterations = max((rhs["iterations"] for rhs in report["rhs"]), default=0)
    if not iterations or not report.get("seconds", {}).get("solve"):
        return []
    precision = "/".join(str(report[name]) for name in ("precision", "sloppy") if report.get(name))
    return [{"ranks": report["ranks"], "microseconds": 1e6 * report["seconds"]["solve"] / iterations,
             "series": ("strong", "×".join(map(str, report["lattice"])), precision, f"{report['links']} reals a link")}]


def _kind(row: dict[str, Any]) -> str:
    return "weak" if row.get("series") == "weak" else "strong"


def _extents(row: dict[str, Any]) -> str:
    weak = _kind(row) == "weak"
    return "×".join(map(str, row["local_lattice" if weak else "lattice"])) + (" each" if weak else "")


def _plain_ticks(axes: Axes) -> None:
    """Numbers of logarithmic axes as 20, 50, 100, not as powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
