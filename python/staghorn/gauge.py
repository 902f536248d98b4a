"""Gauge: links in a Context, and what is done with them: solves, several masses at once, hops.

Systems: M x = b with M = 2m + D ("full"), A x = b with A = 4m^2 - D^2 on the sites of one parity ("even", "odd").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .compiled_modules import loading
from .errors import Error, choice
from .fields import Array, Fields, SupportsDLPack, check_alike, check_writable, new_array
from .fields import links as link_fields
from .fields import vectors as vector_fields
from .progress import Progress, Shown
from .report import Report
from .structs import request_of, vector_layout
from .together import collective

with loading():
    from . import _interface as native

if TYPE_CHECKING:
    from .context import Context


@dataclass(frozen=True)
class GaugeInfo:
    """What links are: means of Re tr U / 3 over plaquettes and links, deviations from SU(3), a hash, loads from the host."""

    plaquette: float
    plaquette_space: float
    plaquette_time: float
    link_trace: complex
    unitarity: float  # largest |U U^dagger - 1|
    determinant: float  # largest |det U - 1|
    hash: int  # of the links in fp64: the same for every grid and order
    loads: int  # how often links were read
    naive: bool = True  # no fat and long links
    coefficient: float = 0.0  # of long links
    long_unitarity: float = 0.0  # largest |N N^dagger - 1| of long links without it
    long_hash: int = 0


class Gauge:
    """Links in a context, made by Context.gauge or Context.read. They are updated in place; transports and buffers stay."""

    def __init__(self, context: Context, gauge: native.Gauge, order: str, layout: native.Links, of_long: native.Links | None) -> None:
        self.context = context
        self._native, self._order, self._layout, self._of_long = gauge, order, layout, of_long

    @classmethod
    def _of_arrays(cls, context: Context, order: str, array: SupportsDLPack, layout: native.Links, long: SupportsDLPack | None,
                   of_long: native.Links | None, action: native.Action | None) -> Gauge:
        u, lng = _place_links("links", context, layout, array, order), _place_links("long", context, of_long, long, order)
        made = native.create_gauge(context._native, layout, u.addresses, of_long, lng.addresses, action)
        return cls(context, made, order, layout, of_long)

    @property
    @collective
    def info(self) -> GaugeInfo:
        """Plaquettes, unitarity and hash. Collective."""
        return GaugeInfo(**native.info(self._native))

    @collective
    def update(self, array: SupportsDLPack, *, long: SupportsDLPack | None = None, version: int = 0) -> None:
        """Takes other links, of the order, phases and boundary of the first ones; fat and `long` ones where these were so. A `version` that is not 0 and that of the last
        update says that the links are the same: then nothing is read. Collective. Raises Error, after which the gauge has no
        links until the next update."""
        if (long is not None) != (self._of_long is not None):
            raise Error("long: expected long links where the gauge was made with them, and only there", "argument")
        self._layout.generation = version
        if self._of_long is not None:
            self._of_long.generation = version
        u = _place_links("links", self.context, self._layout, array, self._order)
        lng = _place_links("long", self.context, self._of_long, long, self._order)
        native.update(self._native, self._layout, u.addresses, self._of_long, lng.addresses)

    @collective
    def hop(self, source: Array, *, out: Array | None = None, target: str = "full", order: str = "lex",
            phases: str = "none") -> Array:
        """D source on the sites of `target`: "full", "even" or "odd"; other sites of the result are those of `out`, or 0.

        Arrays as in `solve`. With order "half" the source holds the parity that is not the target. Collective. Raises Error.
        """
        layout = vector_layout(order, phases)
        given = self._vectors("source", source, layout, order)
        result, written = self._output("out", out, source, given, order, zero=target != "full")
        native.hop(self._native, layout, choice("target", target, native.SITES), given.addresses, written.addresses)
        return result

    @collective
    def solve(self, mass: float, source: Array, *, out: Array | None = None, guess: bool = False, dx: Array | None = None,
              system: str = "full", order: str = "lex", phases: str = "none", tolerance: float = 1e-10,
              tolerance_hq: float = 0.0, max_iterations: int | None = None, precision: str = "fp64", sloppy: str | None = None,
              sloppy_links: int | None = None, stop: str = "system", sign: int = 1, halved: bool = False, chronological: int = 0,
              progress: Progress | bool | None = None, **options: Any) -> tuple[Array, Report]:
        """Solves M x = b, or A x = b on the sites of one parity, for 1 to 64 sources at once. Returns x and the report.

        mass            lattice mass a m; above 0 for the full system
        source          b, complex64 or complex128, on the host or on the context's GPU, local, of the shape [..., *axes]
        out             array for x, which is returned; None: a new one of the library of `source`, 0 where nothing is solved
        guess           whether `out` holds a first guess
        dx              array for D x of the solution
        system          "full", "even" or "odd"; the other sites of `out` stay as they are
        order           axes of a vector: "lex" [T, Z, Y, X, 3]; "even-odd" [2, T, Z, Y, X/2, 3], as PyQUDA has them; "half"
                        [T, Z, Y, X/2, 3] of the system's parity; "cps-stag", "cps-wilson" [V, 3]
        phases          convention of the vectors: "none", that of the gauge's links; "cps", "milc", "tifr", "chroma"
        tolerance       of |b - M x| / |b|; tolerance_hq: of Fermilab's residual, 0: not asked
        max_iterations  of CG for each source; None: no number, it ends where it stagnates
        precision       of CG: "fp64" or "fp32"; sloppy: of mixed precision, "fp32" or "fp16"; sloppy_links: its reals a link
        stop            "system", or "parity": tolerance is for A x_e = 2m b_e - D b_o
        sign            -1: 2m - D; halved: m + D/2 and m^2 - D^2/4
        chronological   guess from up to so many earlier solutions
        progress        called as progress(iteration, residual_over_tolerance); something true stops the solve. True: a line
        options         others of Session.solve by their names, as `checkpoint`, and `solver`, `preconditioner`

        A solve that does not converge is a result (`report.outcome`). Collective. Raises Error, and what `progress` raises.
        """
        request = request_of(mass, system, tolerance, tolerance_hq, max_iterations, precision, sloppy, sloppy_links, stop, sign,
                           halved, chronological, options)
        if guess and out is None:
            raise Error("guess: expected the guess in `out`, found no `out`", "argument")
        request.guess = int(guess)
        layout = vector_layout(order, phases)
        b = self._vectors("source", source, layout, order)
        x, solutions = self._output("out", out, source, b, order, zero=system != "full")
        hops = self._output("dx", dx, source, b, order)[1].addresses if dx is not None else []
        with Shown(progress) as shown:
            status, results = native.solve(self._native, request, layout, b.addresses, solutions.addresses, hops, shown.function)
            return x, shown.ended(self._report(status, results))

    @collective
    def multishift(self, shifts: Sequence[float], source: Array, *, mass: float, out: Array | None = None, system: str = "full",
                   order: str = "lex", phases: str = "none", tolerance: float | Sequence[float] = 1e-10,
                   max_iterations: int | None = None, precision: str = "fp64", sloppy: str | None = None,
                   sloppy_links: int | None = None, progress: Progress | bool | None = None,
                   **options: Any) -> tuple[Array, Report]:
        """Solves (A + shift) x = b for all shifts at once; of the full system M x = b with the masses sqrt(m^2 + shift / 4).

        One source, without leading axes. `tolerance` may be one number for each shift. The result has an axis of shifts in
        front, and report.rhs is in their order. Other arguments as in `solve`. Collective. Raises Error.
        """
        tolerances = [] if isinstance(tolerance, (int, float)) else [float(one) for one in tolerance]
        if tolerances and len(tolerances) != len(shifts):
            raise Error(f"tolerance: expected one number, or {len(shifts)}, one for each shift, found {len(tolerances)}", "argument")
        request = request_of(mass, system, min(tolerances) if tolerances else float(tolerance), 0.0,  # type: ignore[arg-type]
                           max_iterations, precision, sloppy, sloppy_links, "system", 1, False, 0, options)
        layout = vector_layout(order, phases)
        b = self._vectors("source", source, layout, order)
        if b.leading or not len(shifts):
            raise Error(f"source: expected one vector and at least one shift, found leading axes {b.leading} and {len(shifts)} shifts",
                        "layout")
        x = new_array(source, (len(shifts),), zeros=system != "full") if out is None else out
        solutions = self._vectors("out", x, layout, order)
        _check_shifts(solutions, b, len(shifts))
        if out is not None:
            check_writable("out", out)
        with Shown(progress) as shown:
            status, results = native.multishift(self._native, request, layout, [float(shift) for shift in shifts], tolerances, [],
                                                b.addresses[0], solutions.addresses, [], shown.function)
            return x, shown.ended(self._report(status, results))

    def close(self) -> None:
        """Gives the links back. Collective."""
        self._native.destroy()

    def _report(self, status: int, results: list[native.Result]) -> Report:
        outcomes = {number: name for name, number in native.OUTCOMES.items()}
        report = self.context._report()
        report["outcome"] = outcomes[status]
        for rhs, result in zip(report["rhs"], results):
            on_parity = result.residual_parity if result.residual_parity != -1 else None  # -1: not computed
            rhs.update(outcome=outcomes[result.status], iterations=result.iterations,
                       iterations_more=result.iterations_more or None, residual_iterated=result.residual_iterated,
                       residual_true=result.residual_true, residual_parity=on_parity,
                       residual_hq=result.residual_hq)
        return Report.from_dict(report)

    def _vectors(self, name: str, array: object, layout: native.Vectors, order: str) -> Fields:
        found = vector_fields(name, array, order, self.context.local, self.context.stream)
        layout.precision, layout.memory = found.precision, found.memory
        return found

    def _output(self, name: str, given: Array | None, source: Array, b: Fields, order: str, zero: bool = False) -> tuple[Array, Fields]:
        """The array of the caller, or a new one like `source`; with `zero` it begins with zeros."""
        if given is not None:
            check_writable(name, given)
        array = given if given is not None else new_array(source, zeros=zero)
        found = vector_fields(name, array, order, self.context.local, self.context.stream)
        check_alike(name, found, "source", b)
        return array, found


def _place_links(name: str, context: Context, layout: native.Links | None, array: SupportsDLPack | None, order: str) -> Fields:
    """Where links lie, and `layout` told so; no addresses where there are none."""
    if layout is None:
        return Fields([], (), 0, 0, (0, 0))
    found = link_fields(name, array, order, context.local, context.stream)
    layout.precision, layout.memory = found.precision, found.memory
    return found


def _check_shifts(solutions: Fields, b: Fields, n: int) -> None:
    if solutions.leading != (n,):
        raise Error(f"out: expected an axis of {n} shifts in front, found leading axes {solutions.leading}", "layout")
    if (solutions.precision, solutions.device) != (b.precision, b.device):
        raise Error("out: expected the type and place of source", "layout")
