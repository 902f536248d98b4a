"""What came out of a solve, typed: the report of the program, of Context and of Session as one dataclass.

    report.outcome, report.rhs[0].residual_true, report.seconds["solve"], report["rhs"][0]["residual_true"]

Residuals are relative, times are seconds, memory is bytes. A report is also the dict that its JSON is.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .arguments import checked
from .errors import Error
from .paths import PathLike, read_json, shown


@dataclass(frozen=True)
class Rhs:
    """One right-hand side; of several masses, one mass of one right-hand side."""

    outcome: str  # certified, out_of_iterations, stagnated, breakdown or stopped
    iterations: int
    residual_iterated: float  # |b - M x| / |b| as CG believed
    residual_true: float  # the same, recomputed in fp64 with uncompressed links
    residual_hq: float = 0.0  # Fermilab's, recomputed
    residual_parity: float | None = None  # of the parity system, recomputed, where Context solves it or stops on it
    attainable: float | None = None  # what rounding in fp64 leaves
    norm2: float = 0.0  # |x|^2
    norm2_even: float = 0.0
    norm2_odd: float = 0.0
    color: int | None = None  # of a source in words
    mass: float | None = None  # of several masses
    shift_iterations: int | None = None
    iterations_more: int | None = None  # where it ended at a limit: about how many more it would have taken
    earlier_solutions: int = 0  # that the guess was made from
    updates: list[int] = field(default_factory=list)  # of mixed precision: where the residual was recomputed
    mismatches: list[float] = field(default_factory=list)  # and |r - r as iterated| / |r| there
    history: list[float] = field(default_factory=list)  # |r| before the first iteration and after each


@dataclass(frozen=True)
class Spectrum:
    """The ends of the spectrum of A, as CG saw them."""

    smallest: float
    largest: float
    condition: float


@dataclass(frozen=True)
class Condensate:
    """Estimate of Tr M^-1 / V from noise vectors, and its standard error."""

    value: float
    error: float
    n_vectors: int
    low_part: float | None = None  # with exact_low_modes: the part of `value` that low modes hold
    low_part_error: float | None = None  # at most, from the residuals of the eigenpairs


@dataclass(frozen=True)
class Meson:
    """C(t) of a spin-taste operator, a source and a pair of masses, as `mesons` asks for."""

    name: str  # of the operator or current at the sink
    momentum: list[int]  # in units of 2 pi / n
    symmetry: str  # "E E E"
    masses: list[float]  # of antiquark and quark
    source: str  # of the antiquark
    quark_source: str
    values: list[list[float]]  # real and imaginary part of each time slice


@dataclass(frozen=True)
class Baryon:
    """B(t) of a source and three masses, as `baryons` asks for."""

    name: str  # "nucleon" or "delta"
    masses: list[float]  # of its three quarks
    source: str
    values: list[list[float]]  # real and imaginary part of each time slice


@dataclass(frozen=True)
class TimeRow:
    """What hops and sums took in one phase: the mean of the ranks, and the slowest one."""

    phase: str
    seconds: float | None
    slowest: float = 0.0
    hidden_share: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Report(dict[str, Any]):
    """The report of one solve: the dict that its JSON is, with types. Fields that a report does not have are None or empty."""

    outcome: str
    rhs: list[Rhs]
    explanation: str = ""
    mass: float | None = None
    masses: list[float] | None = None
    system: str = "full"
    source: str = ""
    tolerance: float = 0.0
    max_iterations: int | None = None  # None: no number
    lattice: tuple[int, ...] = ()  # X, Y, Z, T
    grid: tuple[int, ...] = ()
    local_lattice: tuple[int, ...] = ()
    widths: list[list[int]] = field(default_factory=list)  # of the slabs along x, y, z, t
    shares: dict[str, Any] | None = None  # what `shares auto` measured and chose
    slow_device: str = "none"
    ranks: int = 1
    threads: int = 1
    device: str = "cpu"
    devices: list[str] = field(default_factory=list)  # of every rank
    unlike_ranks: bool = False  # some ranks lay out vectors differently
    transport: str = ""
    precision: str = "fp64"
    links: int = 18
    sloppy: str | None = None
    sloppy_links: int | None = None
    action: str = "naive"
    solver: str = ""
    loop: str | None = None
    certificate: str = ""
    spectrum: Spectrum | None = None
    pion_correlator: list[float] = field(default_factory=list)
    pion_correlators: list[list[float]] = field(default_factory=list)  # of several masses
    pion_low_part: list[float] = field(default_factory=list)  # with exact_low_modes: their part, from all translates
    pion_low_parts: list[list[float]] = field(default_factory=list)  # of several masses
    mesons_on: str = ""  # where they were contracted: "host" or "device"
    mesons: list[Meson] = field(default_factory=list)  # of all sources and pairs of masses
    baryons: list[Baryon] = field(default_factory=list)  # of all sources and masses
    condensate: Condensate | None = None
    condensates: list[Condensate] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    times: list[TimeRow] = field(default_factory=list)
    memory_bytes: dict[str, float] = field(default_factory=dict)
    site_iterations_per_second: float = 0.0
    provenance: dict[str, str] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        """Whether every right-hand side has the residual that was asked for."""
        return self.outcome == "certified"

    @property
    def iterations(self) -> int:
        """Of the right-hand side that took most."""
        return max((rhs.iterations for rhs in self.rhs), default=0)

    def to_dict(self) -> dict[str, Any]:
        """The whole report, as its JSON has it. A copy."""
        return copy.deepcopy(dict(self))

    def to_json(self) -> str:
        return json.dumps(self, indent=2)

    @classmethod
    @checked
    def from_dict(cls, report: Mapping[str, Any]) -> Report:
        """From the dict of its JSON. Raises Error where it is none."""
        if "outcome" not in report:
            raise Error(f"report: expected the dict of a report, found one of {', '.join(map(repr, report)) or 'nothing'}", "argument")
        parts: dict[str, Any] = {
            "rhs": [_made(Rhs, rhs) for rhs in report.get("rhs", [])],
            "spectrum": _made(Spectrum, report["spectrum"]) if report.get("spectrum") else None,
            "condensate": _made(Condensate, report["condensate"]) if report.get("condensate") else None,
            "condensates": [_made(Condensate, one) for one in report.get("condensates", [])],
            "mesons": [_made(Meson, one) for one in report.get("mesons", [])],
            "baryons": [_made(Baryon, one) for one in report.get("baryons", [])],
            "times": [_made(TimeRow, row) for row in report.get("times", [])],
            **{name: tuple(report.get(name, ())) for name in ("lattice", "grid", "local_lattice")},
        }
        made: Report = _made(cls, {**report, **parts})
        made.update(report)
        return made

    @classmethod
    @checked
    def read(cls, path: PathLike) -> Report:
        """From a JSON file of `staghorn solve --report`."""
        found = read_json(path, "a report in JSON")
        if "outcome" not in found:
            raise Error(f"{shown(path)}: expected a report in JSON, found JSON with other keys", "file")
        return cls.from_dict(found)

    def __repr__(self) -> str:
        return f"<staghorn.Report {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        worst = max((rhs.residual_true for rhs in self.rhs), default=0.0)
        symbol = "|b - M x| / |b|" if self.system == "full" else "|b - A x| / |b|"
        return (f"{self.outcome}: {len(self.rhs)} right-hand side{'s' * (len(self.rhs) != 1)}, {self.iterations} iterations, "
                f"{symbol} = {worst:.2g} recomputed in fp64" + (f"\n{self.explanation}" if self.explanation else ""))


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass from those entries of `values` that it has."""
    names = {one.name for one in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})
