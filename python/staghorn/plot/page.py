"""Reports as one page of HTML: what `staghorn report` does, from Python."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import checked
from ..compiled_modules import loading
from ..errors import Error
from ..paths import PATHS, PathLike
from .reports import Reports, differences, report_of
from ..report import Report


@checked
def html_report(reports: Reports, path: PathLike | None = None, *, names: Sequence[str] | None = None) -> str:
    """One page of HTML with outcome, certificate, residuals, times, speed, memory and provenance of each report, side by side.

    reports  one or several, of solves, eigenpairs or benches: Report, dict or path
    path     a file to write the page to, in place of what is there; None: it is only returned
    names    heads of the columns; by default paths, or what tells the reports apart

    The page needs no network and has the JSON of each report inside. Returns the page. Raises Error where a report is none.
    """
    with loading():
        from .. import _native
    listed: list[Any] = [reports] if isinstance(reports, (Report, Mapping, *PATHS)) else list(reports)
    found = [report_of(report) for report in listed]
    if names is None:
        told = differences(found) if len(found) > 1 else ["report"]
        heads = [os.fsdecode(one) if isinstance(one, PATHS) else name for one, name in zip(listed, told)]
    else:
        heads = list(names)
    if len(heads) != len(found):
        raise Error(f"names: expected {len(found)}, one for each report, found {len(heads)}", "argument")
    page = _native.html_report([(name, json.dumps(report)) for name, report in zip(heads, found)])
    if path is not None:
        with open(os.fsdecode(path), "w", encoding="utf-8") as file:
            file.write(page)
    return page
