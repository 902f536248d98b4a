"""How solves converged, and where their time went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import Error
from .figures import color, new_axes, shades, style, styled
from .reports import Reports, configurations_of, describe, differences, reports_of, starts_of, symbol_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 4  # right-hand sides that have an entry each in the legend


@checked
def residuals(reports: Reports, *, ax: Axes | None = None, against: str = "iteration", relative_to: str = "start",
              labels: Sequence[str] | None = None, width: str = "column", figsize: tuple[float, float] | None = None) -> Axes:
    """Draws the relative residuals of all right-hand sides over iterations or seconds, and the recomputed ones as crosses.

    reports      one or several: Report, dict or path
    ax           axes to draw into; None: a figure of its own, `width` "column" or "page", or `figsize` in inches
    against      "iteration", or "seconds" of `solve`, all iterations taken as equally long
    relative_to  "start": a curve that begins above 1, as that of noise does, is divided by its first value, and so is its
                 tolerance; "b": all are relative to |b|, as in the report. For point and wall sources both are the same
    labels       one for each of several reports; by default what tells them apart

    Returns the axes. Raises Error.
    """
    found = reports_of(reports, "residuals", "rhs")
    if against not in ("iteration", "seconds"):
        raise Error(f"against: expected iteration or seconds, found {against!r}", "argument")
    if relative_to not in ("start", "b"):
        raise Error(f"relative_to: expected start or b, found {relative_to!r}", "argument")
    begins = [starts_of(report) if relative_to == "start" else [1.0] * len(report["rhs"]) for report in found]
    from_start = any(start != 1 for starts in begins for start in starts)
    names = _labels(labels, found)
    with style():
        entries = len(found) if len(found) > 1 else min(len(found[0]["rhs"]), MOST_NAMED)
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * (entries + 2), figsize=figsize)
        for k, report in enumerate(found):
            _draw_histories(axes, report, begins[k], _seconds_of_iteration(report) if against == "seconds" else 1.0,
                            names[k] if len(found) > 1 else "", color(k) if len(found) > 1 else None)
        for height in sorted({float(f"{report['tolerance'] / start:.2g}") for report, starts in zip(found, begins) for start in starts}):
            axes.axhline(height, color="0.5", linestyle="--", linewidth=0.8)
        tolerances = ", ".join(f"{one:g}" for one in sorted({float(report["tolerance"]) for report in found}))
        axes.plot([], [], color="0.5", linestyle="--", linewidth=0.8,
                  label=f"tolerance {tolerances}" + (r" of $|b|$" if from_start else ""))
        axes.plot([], [], "kx", label="recomputed in fp64")
        axes.set_yscale("log")
        symbols = {symbol_of(report, tex=True, start=from_start) for report in found}
        axes.margins(x=0.02)
        up = symbols.pop() if len(symbols) == 1 else r"$|r|\,/\,|r_0|$" if from_start else r"$|r|\,/\,|b|$"
        styled(axes, "iteration" if against == "iteration" else "time in CG [s]", up, title=_common_title(found))
    return axes


def _labels(labels: Sequence[str] | None, reports: list[dict[str, Any]]) -> list[str]:
    if labels is None:
        return differences(reports)
    if len(labels) != len(reports):
        raise Error(f"labels: expected {len(reports)}, one for each report, found {len(labels)}", "argument")
    return list(labels)


def _draw_histories(axes: Axes, report: dict[str, Any], starts: list[float], step: float, name: str, of_report: str | None) -> None:
    drawn = [(rhs, start) for rhs, start in zip(report["rhs"], starts) if rhs.get("history")]
    lines = [rhs for rhs, _ in drawn]
    colors: Sequence[Any] = [of_report] * len(lines) if of_report else (
        [color(k) for k in range(len(lines))] if len(lines) <= MOST_NAMED else shades(len(lines)))
    for k, (rhs, start) in enumerate(drawn):
        history = [residual / start if residual is not None else math.nan for residual in rhs["history"]]
        label = _line_label(rhs, k) if len(lines) <= MOST_NAMED and not of_report else None
        axes.plot([step * n for n in range(len(history))], history, color=colors[k], label=label)
        if rhs.get("residual_true"):
            axes.plot([step * (len(history) - 1)], [rhs["residual_true"] / start], "kx", zorder=3)
    if of_report:
        axes.plot([], [], color=of_report, label=f"{name}: {_counts(lines)}")
    elif len(lines) > MOST_NAMED:
        axes.plot([], [], color=colors[len(lines) // 2], label=f"{len(lines)} right-hand sides: {_counts(lines)}")


def _line_label(rhs: dict[str, Any], k: int) -> str:
    what = [f"m = {rhs['mass']:g}"] if rhs.get("mass") is not None else []
    what.append(f"colour {rhs['color']}" if rhs.get("color") is not None else f"right-hand side {k}")
    return f"{', '.join(what)}: {rhs['iterations']} iterations"


def _counts(lines: list[dict[str, Any]]) -> str:
    counts = sorted(rhs["iterations"] for rhs in lines)
    if not counts:
        return "no history"
    return f"{counts[0]} iterations" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]} iterations"


def _seconds_of_iteration(report: dict[str, Any]) -> float:
    iterations = max((rhs["iterations"] for rhs in report["rhs"]), default=0)
    return float(report["seconds"]["solve"]) / max(1, iterations)


def _common_title(reports: list[dict[str, Any]]) -> str:
    """The parts of the description that all reports share."""
    names = ("lattice", "action", "mass", "system", "precision", "links")
    differing = tuple(name for name in names
                      if len({describe(report, without=tuple(other for other in names if other != name)) for report in reports}) > 1)
    return describe(reports[0], without=differing)


# Parts of a solve in the order in which they pass: entry of report.seconds, words, whether it is within `solve`, colour.
_PARTS = (("read", "read", False, "#BBBBBB"), ("setup", "set up", False, "#777777"), ("convert", "convert", False, "#E69F00"),
          ("hop_pack", "pack faces", True, "#009E73"), ("hop_interior", "hops, interior", True, "#0072B2"),
          ("hop_wait", "wait for faces", True, "#D55E00"), ("hop_boundary", "hops, boundary", True, "#56B4E9"),
          ("hop_sums", "sums", True, "#F0E442"), ("", "CG, other", True, "#332288"), ("certify", "certify", False, "#CC79A7"),
          ("write", "write", False, "#882255"))
_COLORS_OF_PARTS = {words: colour for _, words, _, colour in _PARTS}


@checked
def times(reports: Reports, *, ax: Axes | None = None, labels: Sequence[str] | None = None, width: str = "column",
          figsize: tuple[float, float] | None = None) -> Axes:
    """Draws the seconds of each phase, a bar for each report. The rest of `solve`, beside hops and sums, is `CG, other`.

    Arguments as of `residuals`. Phases that take less than 0.5 % of the longest bar are left out. Returns the axes. Raises Error.
    """
    found = [one for report in reports_of(reports, "times") for one in configurations_of(report)]
    if not found or not all(report.get("seconds") for report in found):
        raise Error("times: expected seconds in every report, found one without", "argument")
    names = _labels(labels, found) if labels is not None or len(found) > 1 else [describe(found[0])]
    rows = [_phases(report["seconds"]) for report in found]
    longest = max(sum(row.values()) for row in rows)
    kept = [part for part in rows[0] if any(row[part] > 5e-3 * longest for row in rows)]
    with style():
        axes = ax if ax is not None else new_axes(width, 0.75 + 0.42 * len(found) + 0.14 * math.ceil(len(kept) / 3), figsize=figsize)
        for k, row in enumerate(rows):
            left = 0.0
            for part in kept:
                axes.barh(k, row[part], left=left, height=0.45, color=_COLORS_OF_PARTS[part], edgecolor="white", linewidth=0.3,
                          label=part if k == 0 else None)
                left += row[part]
            axes.annotate(f"{left:.3g} s", (left, k), xytext=(2, 0), textcoords="offset points", va="center", fontsize=7)
            axes.annotate(names[k], (0, k - 0.26), xytext=(2, 1), textcoords="offset points", va="bottom", fontsize=7)
        axes.set_yticks([])
        axes.set_ylim(len(found) - 0.6, -0.75)
        axes.set_xlim(0, 1.18 * longest)
        styled(axes, "time [s]", "", title=_common_title(found) if len(found) > 1 else "", columns=3)
    return axes


def _phases(seconds: dict[str, float]) -> dict[str, float]:
    row = {words: float(seconds.get(name, 0.0)) for name, words, _, _ in _PARTS}
    inside = sum(float(seconds.get(name, 0.0)) for name, _, within, _ in _PARTS if within)
    row["CG, other"] = max(0.0, float(seconds.get("solve", 0.0)) - inside)
    return row
