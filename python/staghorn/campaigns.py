"""One request on many gauge configurations, with what is done kept on the disk: the program's `solve --gauge 'q_*.h5'`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arguments import checked
from .compiled_modules import loading
from .errors import Error, did_you_mean
from .paths import PATHS, PathLike, file_name, read_json, shown
from .progress import ProgressLine

with loading():
    from . import _native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import AllWords
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

    str() of it is a table: a line for each configuration, then means with errors.
    """

    _table: str | None = None

    @property
    def table(self) -> str:
        if self._table is None:
            self._table = _native.campaign_table("campaign", json.dumps(self))
        return self._table

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        outcomes = ", ".join(f"{n} {outcome}" for outcome, n in self["campaign"]["outcomes"].items())
        return (f"<staghorn.Campaign of {len(self['configurations'])} configurations: {outcomes}; masses {_listed(self.masses)}; "
                f"sources {_listed(self.sources)}>")

    @classmethod
    @checked
    def merge(cls, reports: Sequence[PathLike], *, report: PathLike | None = None, results: PathLike | None = None,
              force: bool = False) -> Campaign:
        """Reports of one request as one, as `staghorn campaign merge` makes it: of jobs that share a campaign, or had configurations
        of their own. Of a configuration that several have the certified one counts.

        report, results  files to write, as of `campaign`; force: replace them

        Raises Error where requests differ, or the links of one configuration.
        """
        named = [None if path is None else os.fsdecode(path) for path in (report, results)]
        text, table = _native.merge_campaigns([os.fsdecode(path) for path in reports], named[0], named[1], bool(force))
        found = cls(json.loads(text))
        found._table = table
        return found

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

    @checked
    def mesons(self, name: str, masses: Sequence[float], source: str | None = None, *,
               momentum: Sequence[int] = (0, 0, 0)) -> NDArray[np.complex128]:
        """C(t) of a meson of `mesons`, [configuration, t].

        name      of the operator at the sink, as "pion5"
        masses    of antiquark and quark
        source    as it was asked for, or None where all mesons are of one
        momentum  in units of 2 pi / n

        Raises Error.
        """
        parts = [part["report"].get("mesons", []) for part in self["configurations"] if part["outcome"] == "certified"]
        listed = parts[0] if parts else []
        of_source = self.sources.index(source) if source in self.sources else None
        names = [one["source"] for one in listed]
        sources = list(dict.fromkeys(names))
        if source is None and len(sources) > 1:
            raise Error(f"source: expected one of {', '.join(sources)}, found none", "argument")
        wanted = source if of_source is None else _source_of(self, of_source)
        found = [k for k, one in enumerate(listed) if one["name"] == name and one["masses"] == list(map(float, masses))
                 and one["momentum"] == list(momentum) and wanted in (None, one["source"])]
        if not found:
            known = ", ".join(dict.fromkeys(one["name"] for one in listed)) or "none"
            raise Error(f"name: expected a meson of this campaign ({known}) with its masses, source and momentum, found {name} of masses "
                        f"{_listed(masses)}, momentum {_listed(momentum)}{did_you_mean(name, {one['name'] for one in listed})}", "argument")
        values = np.array([part[found[0]]["values"] for part in parts], dtype=np.float64)
        return np.asarray(values[..., 0] + 1j * values[..., 1])

    @checked
    def averaged_mesons(self, names: Sequence[str], masses: Sequence[float], sources: Sequence[str] | None = None, *,
                        momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> NDArray[np.complex128]:
        """The mean of C(t) over directions, sources and momenta of each configuration, [configuration, t], with t counted from the
        source.

        names    of operators that a symmetry makes alike, as ["GX-GX", "GY-GY", "GZ-GZ"]
        masses   of antiquark and quark
        sources  points and walls, as they were asked for; None: all of the campaign
        momenta  in units of 2 pi / n

        Sources of one configuration are not independent, so it is this mean that `analysis` takes as one sample. Raises Error.
        """
        chosen = self.sources if sources is None else list(sources)
        if not names or not chosen or not momenta:
            raise Error("names, sources, momenta: expected one of each at least, found none", "argument")
        terms = [np.roll(self.mesons(name, masses, source, momentum=momentum), -_time_of(source), axis=-1)
                 for name in names for source in chosen for momentum in momenta]
        return np.asarray(np.mean(terms, axis=0))

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


def _time_of(source: str) -> int:
    """The time slice of a point or wall."""
    kind, _, numbers = source.partition("@")[0].partition(":")
    t = numbers.split(",")[3 if kind == "point" else 0] if kind == "point" or kind.endswith("wall") else ""
    if not t.isdecimal():
        raise Error(f"sources: expected points and walls, which have a time slice, found {source}", "argument")
    return int(t)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in values)


def _source_of(found: Campaign, number: int) -> str | None:
    """The name of a source on the first certified configuration: {n} and {gauge} in it are that one's."""
    for part in found["configurations"]:
        if part["outcome"] == "certified":
            return str(part["report"]["sources"][number]["name"])
    return None


@checked
def campaign(gauge: PathLike | Iterable[PathLike], mass: float | None = None, source: str | None = None, *,
             output: PathLike | None = None, report: PathLike | None = None, results: PathLike | None = None,
             force: bool = False, stop_at_failure: bool = False, keep_checkpoint: bool = False,
             progress: Callable[[CampaignPart], Any] | bool | None = None, **options: Unpack[AllWords]) -> Campaign:
    """Solves for every configuration, mass and source, and keeps what is done: a second call goes on.

    gauge    paths, a pattern ("q_*.h5"), or "@FILE" with one path a line; all of one lattice
    mass     a single mass, or None with `masses`
    source   a single source in words, or None with `sources`, a list of such words or "@FILE"; {n} and {gauge} in it stand for
             the number and the stem of each configuration's name
    output   pattern of the files of solutions: {gauge} or {n} ({n:04}), {mass}, {source}; None: solutions are not kept
    report   path of the report in JSON, which is the record of what is done too; with {gauge} or {n} a report for each configuration:
             several processes with the same names share the campaign, and Campaign.merge makes one report of theirs
    results  path of an HDF5 file of correlators and condensates
    force    replace these files, and begin anew
    keep_checkpoint  keep the files of `checkpoint` of certified configurations, which are removed else
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
    told: Any = (lambda part: _show(line, part)) if line is not None else progress or None
    named = [None if path is None else os.fsdecode(path) for path in (output, report, results)]
    text, table = _native.campaign(gauges, texts, named[0], named[1], named[2], bool(force), bool(stop_at_failure), bool(keep_checkpoint),
                                   None if told is None else lambda *values: told(CampaignPart(*values)))
    found = Campaign(json.loads(text))
    found._table = table
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
