"""How a solve converged, as text for a terminal."""

from __future__ import annotations

import math

from typing import Any

from ..arguments import checked
from ..errors import Error
from .reports import ReportLike, reports_of, starts_of, symbol_of


LARGEST = 1000  # lines, and characters in each


class TextPlot(str):
    """Lines of text that a terminal and a notebook show as they stand, where a str would show its line breaks as \\n."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@checked
def residual_plot(report: ReportLike, width: int = 78, height: int = 16, ascii_only: bool = False) -> TextPlot:
    """The histories of all right-hand sides as lines of text; log10 of the relative residual upwards, iterations to the right.

    A history that begins above 1 is divided by its first value. `width` counts whole lines, `height` the rows of the plot. The dashed lines are the tolerance.
    """
    if not (20 <= width <= LARGEST and 2 <= height <= LARGEST):
        raise Error(f"width, height: expected from 20 and from 2 to {LARGEST} characters, found {width} and {height}", "argument")
    (whole,) = reports_of(report, "residual_plot", "rhs")
    starts = [start for rhs, start in zip(whole["rhs"], starts_of(whole)) if rhs["history"]]
    histories = [rhs["history"] for rhs in whole["rhs"] if rhs["history"]]
    histories = [[r / start for r in history if r is not None] for history, start in zip(histories, starts)]
    if not histories:
        return TextPlot("no residual history in this report")
    tolerances = [whole["tolerance"] / start for start in starts]
    mark, rule, bar = ("*", "-", "|") if ascii_only else ("•", "╌", "│")
    columns = width - 8
    last = max(1, max(len(h) for h in histories) - 1)
    values = [r for h in histories for r in h if r > 0]
    top, bottom = math.ceil(math.log10(max(values))), math.floor(math.log10(min([*values, *tolerances])))
    bottom = min(bottom, top - 1)

    def row_of(residual: float) -> int:
        return round((top - math.log10(residual)) / (top - bottom) * (height - 1))

    canvas = [[" "] * columns for _ in range(height)]
    for tolerance in tolerances:
        canvas[row_of(tolerance)] = [rule] * columns
    for history in histories:
        for iteration, residual in enumerate(history):
            if residual > 0:
                canvas[row_of(residual)][round(iteration / last * (columns - 1))] = mark
    labels = {row_of(10.0**e): f"1e{e:+03d}" for e in range(top, bottom - 1, -max(1, math.ceil((top - bottom) / (height // 2))))}
    lines = [f"{labels.get(row, ''):>6} {bar}{''.join(cells)}".rstrip() for row, cells in enumerate(canvas)]
    title = f"{symbol_of(whole, start=any(start != 1 for start in starts))}, {len(histories)} solve{'s' * (len(histories) > 1)}"
    lines = [f"{'':8}{title}", *lines, f"{'':8}0{last:>{columns - 1}}"]
    return TextPlot("\n".join(lines))
