"""How far a solve is, while it runs: a line that is written over, in a terminal or below the cell of a notebook."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import Error

if TYPE_CHECKING:
    from .report import Report

# Called now and then with the iteration and the largest residual over tolerance. Something true stops the solve.
Progress = Callable[[int, float], Any]


class ProgressLine:
    """Shows `iteration 120, residual 3.1e+04 of tolerance, 62 %`: the share is that of the logarithm of the residual."""

    def __init__(self, interval: float = 0.2) -> None:
        self._interval = interval  # seconds between two looks
        self._next = 0.0
        self._first: float | None = None
        self._last = 0  # iteration
        self._head = ""
        self._handle: Any = None
        self._shown = False

    def begin(self, what: str, words: str = "") -> None:
        """Names what is solved from now on, or with `words` what became of it."""
        self._head, self._first = f"{what}: ", None
        self._show(self._head + (words or "begins"))

    def tell(self, text: str) -> None:
        """Shows `text`, unless a line was shown a moment ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._interval
            self._show(self._head + text)

    def __call__(self, iteration: int, residual_over_tolerance: float) -> None:
        if self._first is None or iteration < self._last:  # the first solve, or the next
            self._first = residual_over_tolerance
        self._last = iteration
        self.tell(text_of(iteration, residual_over_tolerance, self._first))

    def end(self, text: str) -> None:
        """Shows how the solve ended, in place of the line."""
        if self._shown:
            self._show(text)
        if self._shown and self._handle is None:
            print(file=sys.stderr)

    def _show(self, text: str) -> None:
        if in_notebook():
            display: Any = import_module("IPython.display").display

            if self._handle is None:
                self._handle = display({"text/plain": text}, raw=True, display_id=True)
            else:
                self._handle.update({"text/plain": text}, raw=True)
        elif sys.stderr.isatty():
            print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)
        else:
            return
        self._shown = True


class Shown:
    """The progress of one solve: a function of the caller, a line, or nothing."""

    def __init__(self, progress: Progress | bool | None) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise Error(f"progress: expected a function, True or None, found {progress!r}", "argument")
        self.line = ProgressLine() if progress is True else None
        self.function: Progress | None = self.line if progress is True else progress or None

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None and self.line is not None:
            self.line.end("ended by an error")

    def ended(self, report: Report) -> Report:
        """The report, whose first line stands where the line was."""
        if self.line is not None:
            self.line.end(str(report).splitlines()[0])
        return report


def text_of(iteration: int, ratio: float, first: float) -> str:
    if not (ratio > 0 and first > 1):
        return f"iteration {iteration}"
    done = min(1.0, max(0.0, 1 - math.log(max(ratio, 1.0)) / math.log(first)))
    return f"iteration {iteration}, residual {ratio:.1e} of tolerance, {100 * done:.0f} %"


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this process; IPython is not imported to find out."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")
