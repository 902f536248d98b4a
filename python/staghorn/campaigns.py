"""One request on many gauge configurations, with what is done kept on the disk: the program's `solve --gauge 'q_*.h5'`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import checked
from .compiled_modules import loading
from .errors import Error
from .paths import PATHS, PathLike, file_name, read_json, shown
from .progress import ProgressLine

with loading():
    from . import _native
from .options import OPTIONS, explain_options, option_text, option_texts

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class CampaignPart:
    """How far a campaign is: one configuration of it, as `progress` is told."""

    gauge: str                      # its path
    number: int                     # from 1
    of: int                         # how many configurations there are
    iteration: int                  # of the solve that runs; 0 when the configuration begins or ends
    residual_over_tolerance: float  # the largest of the right-hand sides
    words: str                      # what became of the configuration; empty until it ends


class Campaign(dict[str, Any]):
    """The report of a campaign, a dict as the program writes it (docs/campaigns/README.md), with its observables as arrays.

    str() of it is the table for people, where the campaign ran in this process.
    """

    table: str = ""

    def __str__(self) -> str:
        return self.table or super().__str__()

    @classmethod
    @checked
    def read(cls, path: PathLike) -> Campaign:
        """The report in a file. Raises Error where it is of another kind."""
        found = cls(read_json(path, "the report of several configurations"))
        if "configurations" not in found or "campaign" not in found:
            raise Error(f"{shown(path)}: expected the report of several configurations, found another", "argument")
        return found

    @property
    def masses(self) -> list[float]:
        return list(self["campaign"]["masses"])

    @property
    def sources(self) -> list[str]:
        """As they were asked for."""
        return list(self["campaign"]["sources"])

    @property
    def gauges(self) -> list[str]:
        """The configurations that are certified, in the order of the arrays."""
        return [file_name(part["gauge"]) for part in self["configurations"] if part["outcome"] == "certified"]

    @checked
    def correlators(self, mass: float, source: str) -> Numbers:
        """C(t) = sum_x |G(x, t)|^2 of a point or wall source with all colours, [configuration, t]. Raises Error."""
        return self._observable("pion_correlator", mass, source, lambda found: found)

    @checked
    def condensates(self, mass: float, source: str) -> Numbers:
        """Re <eta, M^-1 eta> / V of a noise source, [configuration, vector]; its mean estimates Tr M^-1 / V. Raises Error."""
        return self._observable("condensate", mass, source, lambda found: found["values"])

    def _observable(self, name: str, mass: float, source: str, values: Any) -> Numbers:
        for what, one, known in (("mass", mass, self.masses), ("source", source, self.sources)):
            if one not in known:
                raise Error(f"{what}: expected one of {', '.join(map(str, known))}, found {one}", "argument")
        number = self.masses.index(mass) * len(self.sources) + self.sources.index(source)
        found = [part["report"]["sources"][number][name] for part in self["configurations"] if part["outcome"] == "certified"]
        if not found or not found[0]:
            raise Error(f"source: expected one with a {name.replace('_', ' ')} on a configuration that is certified, found {source}",
                        "argument")
        return np.array([values(one) for one in found], dtype=np.float64)


@checked
def campaign(gauge: PathLike | Iterable[PathLike], mass: float | None = None, source: str | None = None, *,
             output: PathLike | None = None, report: PathLike | None = None, results: PathLike | None = None,
             force: bool = False, stop_at_failure: bool = False,
             progress: Callable[[CampaignPart], Any] | bool | None = None, **options: Any) -> Campaign:
    """Solves for every configuration, mass and source, and keeps what is done: a second call goes on.

    gauge    paths, a pattern ("q_*.h5"), or "@FILE" with one path a line; all of one lattice
    mass     a single mass, or None with `masses`
    source   a single source in words, or None with `sources`, a list of such words or "@FILE"; {n} and {gauge} in it stand for
             the number and the stem of each configuration's name
    output   pattern of the files of solutions: {gauge} or {n} ({n:04}), {mass}, {source}; None: solutions are not kept
    report   path of the report in JSON, which is the record of what is done too
    results  path of an HDF5 file of correlators and condensates
    force    replace these files, and begin anew
    stop_at_failure  end at the first configuration that is not certified; otherwise the others go on, and the report says why
    progress  called with a CampaignPart when a configuration begins, every 16 iterations, and when it ends. True: a line that is
             written over, in a terminal or a notebook. What it raises ends the campaign, and a second call goes on

    The other options are those of Session and Session.solve, as `masses`, `sources`, `noise_vectors`, `batch`. A configuration is
    not solved again where the record says that it is certified for the same request, its links have the same hash, and
    its files are complete. Returns the report. What is wrong with one configuration is a result; bad input raises
    Error before anything is solved.
    """
    ways = [name for name, value in (("mass", mass), ("masses", options.get("masses"))) if value is not None]
    if len(ways) != 1:
        raise Error(f"mass: expected a number, or None with `masses`, found {' and '.join(ways) or 'none'}", "argument")
    if (source is not None) == (options.get("sources") is not None):
        raise Error(f"source: expected one, or None with `sources`, found {'none' if source is None else 'both'}", "argument")
    texts = option_texts(OPTIONS, options)
    if mass is not None:
        texts["mass"] = option_text(float(mass))
    if source is not None:
        texts["source"] = source
    gauges = os.fsdecode(gauge) if isinstance(gauge, PATHS) else ";".join(map(os.fsdecode, gauge))
    line = ProgressLine() if progress is True else None
    told = (lambda part: _show(line, part)) if line is not None else progress or None
    text, table = _native.campaign(gauges, texts, *(None if path is None else os.fsdecode(path) for path in (output, report, results)),
                                   bool(force), bool(stop_at_failure),
                                   None if told is None else lambda *values: told(CampaignPart(*values)))
    found = Campaign(json.loads(text))
    found.table = table
    if line is not None:
        outcomes = ", ".join(f"{n} {outcome.replace('_', ' ')}" for outcome, n in found["campaign"]["outcomes"].items() if n)
        line.end(f"{len(found['configurations'])} configurations: {outcomes}")
    return found


def _show(line: ProgressLine, part: CampaignPart) -> None:
    if part.iteration:
        line(part.iteration, part.residual_over_tolerance)
    else:
        line.begin(f"{os.path.basename(part.gauge)}, {part.number} of {part.of}", part.words)


explain_options(campaign, OPTIONS)
