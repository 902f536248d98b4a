"""Gauge: links in a Context, and what is done with them: solves, several masses at once, hops.

Systems: M x = b with M = 2m + D ("full"), A x = b with A = 4m^2 - D^2 on the sites of one parity ("even", "odd").
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .arguments import check_argument
from .compiled_modules import loading
from .errors import Error, choice
from .fields import OLD_VECTOR_ORDERS, VECTOR_ORDERS, Array, Fields, SupportsDLPack, check_alike, check_writable, new_array, order_of, vector_shape
from .fields import copied, links as link_fields
from .fields import vectors as vector_fields
from .options import SOLVE_OPTIONS, list_options, words
from .paths import PATHS, PathLike
from .progress import Progress, ProgressLine, Shown
from .report import Report
from .structs import old_name, vector_layout
from .together import collective

with loading():
    from . import _interface as native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import AllVectorWords, AllWords
    from .context import Context


ComplexArray = NDArray[np.complex128]


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

    def __init__(self, context: Context, gauge: native.Gauge, order: str, layout: native.Links, of_naik: native.Links | None,
                 improved: bool) -> None:
        self.context = context
        self._native, self._order, self._layout, self._of_naik = gauge, order, layout, of_naik
        self._improved = improved

    @classmethod
    def _of_arrays(cls, context: Context, order: str, array: SupportsDLPack, layout: native.Links, naik: SupportsDLPack | None,
                   of_naik: native.Links | None, options: dict[str, Any]) -> Gauge:
        u, n = _place_links("links", context, layout, array, order), _place_links("naik", context, of_naik, naik, order)
        made = native.create_gauge(context._native, layout, u.addresses, of_naik, n.addresses, words(options))
        return cls(context, made, order, layout, of_naik, of_naik is not None or context._makes_naik(options))

    @property
    @collective
    def info(self) -> GaugeInfo:
        """Plaquettes, unitarity and hash. Collective."""
        return GaugeInfo(**native.info(self._native))

    @property
    @collective
    def links(self) -> ComplexArray:
        """The links in use, local [T, Z, Y, X, mu, 3, 3], projected onto SU(3) if that was asked for or implied; of improved quarks
        the fat ones. A copy. Collective."""
        x, y, z, t = self.context.local
        array = np.empty((t, z, y, x, 4, 3, 3), np.complex128)
        native.gauge_links(self._native, native.Links(native.ORDERS["lex"]), [array.ctypes.data])
        return array

    @property
    @collective
    def summary(self) -> dict[str, Any]:
        """File, format, plaquettes, link trace, unitarity and checksums, as in a report. Collective."""
        found: dict[str, Any] = json.loads(native.gauge_report(self._native))
        return found

    @collective
    def update(self, array: SupportsDLPack, *, naik: SupportsDLPack | None = None, version: int = 0,
               long: SupportsDLPack | None = None) -> None:
        """Takes other links, of the order, phases and boundary of the first ones; fat ones and `naik` where these were so. A `version`
        that is not 0 and that of the last update says that the links are the same: then nothing is read. Collective. Raises Error,
        after which the gauge has no links until the next update."""
        if long is not None:
            old_name("long", "naik")
            naik = long
        if (naik is not None) != (self._of_naik is not None):
            raise Error("naik: expected Naik links where the gauge was made with them, and only there", "argument")
        self._layout.generation = version
        if self._of_naik is not None:
            self._of_naik.generation = version
        u = _place_links("links", self.context, self._layout, array, self._order)
        n = _place_links("naik", self.context, self._of_naik, naik, self._order)
        native.update(self._native, self._layout, u.addresses, self._of_naik, n.addresses)

    @collective
    def hop(self, source: Array, *, out: Array | None = None, target: str = "full", order: str = "lex",
            phases: str = "none") -> Array:
        """D source on the sites of `target`: "full", "even" or "odd"; other sites of the result are those of `out`, or 0.

        Arrays as in `solve`. With order "half" the source holds the parity that is not the target. Collective. Raises Error.
        """
        order = order_of(order, VECTOR_ORDERS, OLD_VECTOR_ORDERS)
        layout = vector_layout(order, phases)
        given = self._vectors("source", source, layout, order)
        result, written = self._output("out", out, source, given, order, zero=target != "full")
        native.hop(self._native, layout, choice("target", target, native.SITES), given.addresses, written.addresses)
        return result

    @overload
    def solve(self, mass: float | None, source: str | PathLike | None = None, **options: Unpack[AllWords]) -> tuple[ComplexArray, Report]: ...
    @overload
    def solve(self, mass: float | None, source: Array, *, out: Array | None = None, guess: bool | Array = False,
              dx: Array | None = None, order: str = "lex", phases: str = "none", stop: str = "system", sign: int = 1,
              halved: bool = False, progress: Progress | bool | None = None, **options: Unpack[AllVectorWords]) -> tuple[Array, Report]: ...

    @collective  # type: ignore[misc]
    def solve(self, mass: float | None, source: Any = None, *, out: Any = None, guess: Any = False, dx: Any = None,
              order: str = "lex", phases: str = "none", stop: str = "system", sign: int = 1, halved: bool = False,
              progress: Progress | bool | None = None, **options: Any) -> tuple[Any, Report]:
        """Solves M x = b, or A x = b on the sites of one parity (`system`). Returns x and the report.

        mass            lattice mass a m; above 0 for the full system; None with `masses` or `rational`
        source          b, complex64 or complex128, on the host or on the context's GPU, local, of the shape [..., *axes]; or a
                        source in words: "point:x,y,z,t", "corner-wall:t", "even-wall:t", "wall:t", "z2-wall:t,SEED" and other
                        random walls, "z2:SEED", "gaussian:SEED", "file:F", with operators as "wall:0@rhox"; None with `sources`, a list of such words or "@FILE"
        out             array for x, which is returned; None: a new one of the library of `source`, 0 where nothing is solved
        guess           a first guess of the shape of x; True: `out` holds one
        dx              array for D x of the solution
        order           axes of a vector: "lex" [T, Z, Y, X, 3]; "even-odd-x" [2, T, Z, Y, X/2, 3], as PyQUDA has them; "half"
                        [T, Z, Y, X/2, 3] of the system's parity; "cps-stag", "cps-wilson" [V, 3]
        phases          convention of the vectors: "none", that of the gauge's links; "cps", "milc", "tifr", "chroma"
        stop            "system", or "parity": tolerance is for A x_e = 2m b_e - D b_o
        sign            -1: 2m - D; halved: m + D/2 and m^2 - D^2/4
        progress        called as progress(iteration, residual_over_tolerance); something true stops the solve, and an error that
                        it raises ends it. True: a line that is written over, in a terminal or a notebook

        The other options are those of the program, `precision`, `sloppy`, `sloppy_links`, `sloppy_naik_links`, `solver` and
        `preconditioner` among them:

        {options}

        An array without `masses`, `rational` and `batch` is solved where it lies, and x is of its library and type. Otherwise sources
        are arrays of the host, and x is a new NumPy array: [n, *axes] for a source in words, the shape of an array of sources, with
        an axis of masses in front for `masses` and `rational_parts`; report.rhs is masses times sources, mass by mass. These take
        none of `out`, `dx`, `stop`, `sign`, `halved`.
        A solve that does not converge is a result (`report.outcome`). Collective. Raises Error, and what `progress` raises.
        """
        order = order_of(order, VECTOR_ORDERS, OLD_VECTOR_ORDERS)
        options = self._asked(mass, source, options)
        layout = vector_layout(order, phases)
        if source is None or isinstance(source, PATHS) or not _JOBS.isdisjoint(options):
            for name, value in (("out", out), ("dx", dx), ("stop", stop != "system"), ("sign", sign != 1), ("halved", halved)):
                if value is not None and value is not False:
                    raise Error(f"{name}: expected none with a source in words, `masses`, `rational` or `batch`, found one", "argument")
            return self._solve_sources(source, guess, order, phases, progress, options)
        if guess is not False and guess is not True:
            check_alike("guess", self._vectors("guess", guess, layout, order), "source", self._vectors("source", source, layout, order))
            out = copied(guess) if out is None else out
            guess = True
        if guess and out is None:
            raise Error("guess: expected the guess in `out`, or an array, found no `out`", "argument")
        stop_on = choice("stop", stop, native.STOPS)
        b = self._vectors("source", source, layout, order)
        x, solutions = self._output("out", out, source, b, order, zero=options.get("system", "full") != "full")
        hops = self._output("dx", dx, source, b, order)[1].addresses if dx is not None else []
        with Shown(progress) as shown:
            request = native.Request(words(options), sign, bool(halved), stop_on, guess)
            status, results = native.solve(self._native, request, layout, b.addresses, solutions.addresses, hops, shown.function)
            return x, shown.ended(self._report(status, results))

    @collective
    def _solve_as_program(self, mass: float | None, source: Any, guess: Any, progress: Progress | bool | None,
                          options: dict[str, Any]) -> tuple[ComplexArray, Report]:
        """`solve` with what the program does for any source: those of zeros are refused, options["phases"] is that of the vectors."""
        return self._solve_sources(source, False if guess is None else guess, "lex", "none", progress, _asked(mass, source, options))

    def _solve_sources(self, source: Any, guess: Any, order: str, phases: str, progress: Progress | bool | None,
                       options: dict[str, Any]) -> tuple[ComplexArray, Report]:
        """Sources in words, several masses, rational functions, batches: solutions in new arrays."""
        b, addresses, leading, dtype = None, [], None, np.dtype(np.complex128)
        if phases in ("cps", "milc"):  # of the sources that are made here, too
            options, phases = {**options, "phases": phases}, "none"
        layout = vector_layout(order, phases)
        if isinstance(source, PATHS):
            options["source"] = os.fsdecode(source)
        elif source is not None:
            b = self._vectors("source", source, layout, order)
            addresses, leading, dtype = b.addresses, b.leading, np.dtype(f"complex{64 if b.precision else 128}")
        else:
            layout.precision = native.PRECISIONS["fp64"]
        shape, made = vector_shape(order, self.context.local), []
        held = guess is not False and guess is not None
        if held and (guess is True or options.get("mass") is None or not _BATCHES.isdisjoint(options)):
            raise Error("guess: expected an array, with a single mass and a single batch, which `masses`, `rational`, `sources` and `batch` are not, "
                        f"found {'True' if guess is True else 'one'}", "argument")

        def room(n: int) -> int:
            made.append(np.zeros((n, *shape), dtype))
            if held:
                made[0][:] = _as_guess(guess, n, shape)
            return int(made[0].ctypes.data)

        with Shown(progress) as shown:
            request = native.Request(words(options), guess=held)
            status = native.solve_sources(self._native, request, layout, addresses, room, shown.function)
            is_stopped = status == native.OUTCOMES["stopped"]
            if is_stopped and not {"sources", "batch"}.isdisjoint(options):
                raise Error("progress: the job of batches was stopped before its end", "state")
            found = self.context._report()
            for one in [found, *found["rhs"]] if is_stopped else []:
                one["outcome"] = "stopped" if one["outcome"] == "out_of_iterations" else one["outcome"]
            report = Report.from_dict(found)
            x = made[0].reshape(*_leading(report, options, leading, len(made[0])), *shape)
            return x, shown.ended(report)

    @collective
    def multishift(self, shifts: Sequence[float], source: Array, *, mass: float, out: Array | None = None, order: str = "lex",
                   phases: str = "none", tolerance: float | Sequence[float] | None = None, progress: Progress | bool | None = None,
                   **options: Any) -> tuple[Array, Report]:
        """Solves (A + shift) x = b for all shifts at once; of the full system M x = b with the masses sqrt(m^2 + shift / 4).

        One source, without leading axes. `tolerance` may be one number for each shift. The result has an axis of shifts in
        front, and report.rhs is in their order. Other arguments as in `solve`. Collective. Raises Error.
        """
        tolerances = [] if tolerance is None or isinstance(tolerance, (int, float)) else [float(one) for one in tolerance]
        if tolerances and len(tolerances) != len(shifts):
            raise Error(f"tolerance: expected one number, or {len(shifts)}, one for each shift, found {len(tolerances)}", "argument")
        options = self._asked(mass, source, {**options, "tolerance": min(tolerances) if tolerances else tolerance})
        order = order_of(order, VECTOR_ORDERS, OLD_VECTOR_ORDERS)
        layout = vector_layout(order, phases)
        b = self._vectors("source", source, layout, order)
        if b.leading or not len(shifts):
            raise Error(f"source: expected one vector and at least one shift, found leading axes {b.leading} and {len(shifts)} shifts",
                        "layout")
        x = new_array(source, (len(shifts),), zeros=options.get("system", "full") != "full") if out is None else out
        solutions = self._vectors("out", x, layout, order)
        _check_shifts(solutions, b, len(shifts))
        if out is not None:
            check_writable("out", out)
        with Shown(progress) as shown:
            status, results = native.multishift(self._native, native.Request(words(options)), layout, [float(shift) for shift in shifts],
                                                tolerances, b.addresses[0], solutions.addresses, shown.function)
            return x, shown.ended(self._report(status, results))

    @collective
    def eigen(self, pairs: int, *, tolerance: float = 1e-10, max_calls: int = 1000000, seed: int = 1,
              vectors: bool = True, output: PathLike | None = None, storage: str = "fp64",
              force: bool = False, checkpoint: PathLike | None = None, checkpoint_every: float = 600,
              resume: bool = False, progress: Callable[[int, float], Any] | bool | None = None) -> tuple[NDArray[np.float64], ComplexArray | None, dict[str, Any]]:
        """The lowest eigenpairs of K = -D^2 on even sites, as `staghorn eigen` finds and certifies them.

        pairs      how many, from the lowest
        tolerance  residual |K v - lambda v| of each to reach, over the largest eigenvalue of K
        max_calls  the most applications of K
        seed       of the random start vector
        vectors    whether they are returned
        output     path of a file for values and vectors, which `eigenvectors` of a context or gauge reads: HDF5, or MILC's form
                   where it ends in .scidac or .lime, packed where it ends in .packed.scidac or .packed.lime
        storage    precision of the vectors in that file: fp64, fp32 or fp16
        force      replace the file if it exists
        progress   called as progress(applications of K, pairs that are missing); something true ends the search. True: a line that is
                   written over, in a terminal or a notebook
        checkpoint, checkpoint_every, resume   keep the state of the search in this file every so many seconds, and go on
                   from it

        Returns the eigenvalues, ascending, in lattice units; the vectors [n, T, Z, Y, X, 3] of norm 1, local, zero on odd sites,
        or None; and the report as a dict. What is not certified is a result (report["outcome"]): then there may be
        fewer pairs. Collective. Bad input raises Error.
        """
        x, y, z, t = self.context.local
        made: list[ComplexArray] = []

        def room(n: int) -> int:
            made.append(np.zeros((n, t, z, y, x, 3), np.complex128))
            return int(made[0].ctypes.data)

        line = ProgressLine() if progress is True else None
        told: Any = (lambda calls, missing: line.tell(f"{calls} applications, {missing:.0f} of {pairs} pairs missing")) if line is not None else (
            progress or None)
        native.find_eigenpairs(self._native, int(pairs), float(tolerance), int(max_calls), int(seed),
                               None if checkpoint is None else os.fsdecode(checkpoint), float(checkpoint_every), bool(resume),
                               None if output is None else os.fsdecode(output), choice("storage", storage, native.PRECISIONS),
                               bool(force), vector_layout("lex", "none"), room if vectors else None, told)
        report = self.context._report()
        if line is not None:
            line.end(f"{report['outcome']}: {len(report['eigenvalues'])} pairs")
        return np.array(report["eigenvalues"]), made[0] if made else None, report

    @collective
    def read_eigenpairs(self, path: PathLike) -> None:
        """Reads low eigenpairs of these links, proves them, and deflates the solves that follow with them (docs/deflation.md).

        path  of a file of `eigen`, `staghorn eigen` or MILC

        `deflate=False` of a solve leaves them aside; `update` and another call forget them. Collective. Raises Error where they belong to
        other links, another action or boundary, or are no eigenpairs.
        """
        native.read_eigenpairs(self._native, os.fsdecode(path))

    @collective
    def find_coarse(self, vectors: int = 24, *, block: Sequence[int] | None = None, iterations: int = 150, seed: int = 1,
                    output: PathLike | None = None, storage: str = "fp32", force: bool = False) -> dict[str, Any]:
        """Finds a basis of blocks, as `staghorn coarse` does, and keeps it: solves of the gauge work in its space.

        vectors     how many vectors near the null space of K = -D^2 on even sites: the columns on each block
        block       sites of a block in x, y, z and t, even, dividing the part of each rank; None: chosen
        iterations  of Conjugate Gradient for each vector
        seed        of the noise that they begin as
        output      path of a file for the vectors, which `coarse` of a context or gauge reads
        storage     precision of the vectors in that file: fp64, fp32 or fp16
        force       replace the file if it exists

        Solves then take `solver` "multigrid", or "deflated" if asked for, at any mass, until the links change. Returns the
        report as a dict. In the precision of the gauge. Collective. Bad input raises Error.
        """
        native.find_coarse(self._native, int(vectors), None if block is None else [int(extent) for extent in block],
                           int(iterations), int(seed), None if output is None else os.fsdecode(output),
                           choice("storage", storage, native.PRECISIONS), bool(force))
        return self.context._report()

    def __repr__(self) -> str:
        return f"<staghorn.Gauge in {self.context!r}>"

    def close(self) -> None:
        """Gives the links back. Collective."""
        self._native.destroy()

    def _asked(self, mass: float | None, source: Any, options: dict[str, Any]) -> dict[str, Any]:
        options = _asked(mass, source, options)
        if self._improved and "sloppy_links" in options and "sloppy_naik_links" not in options:
            old_name("sloppy_links of Naik links", "sloppy_naik_links")
            options["sloppy_naik_links"] = options.pop("sloppy_links")
        return options

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


_BATCHES = {"masses", "rational", "sources", "batch"}  # solves that start from zero
_JOBS = {*_BATCHES, "rational_parts", "color", "noise_vectors", "exact_low_modes", "source"}


def _asked(mass: float | None, source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a solve as the table knows them, those of None left out. Raises Error where masses or sources are none or two."""
    options = {name: value for name, value in options.items() if value is not None}
    several = [name for name in ("masses", "rational") if name in options]
    if (mass is not None) + len(several) != 1:
        found = [*(["mass"] if mass is not None else []), *several]
        raise Error(f"mass: expected a number, or None with `masses` or `rational`, found {' and '.join(found) or 'none'}", "argument")
    if ("sources" in options) == (source is not None):
        raise Error(f"source: expected one, or None with `sources`, found {'both' if source is not None else 'none'}", "argument")
    if mass is not None:
        options["mass"] = float(mass)
    return options


def _as_guess(guess: Any, n: int, shape: tuple[int, ...]) -> ComplexArray:
    check_argument("guess", guess, "ArrayLike")
    array = np.asarray(guess, np.complex128)
    if array.shape not in (shape, (n, *shape)) or n != 1 and array.shape == shape:
        raise Error(f"guess: expected shape {(n, *shape)}, found {array.shape}", "layout")
    return array


def _leading(report: Report, options: dict[str, Any], of_source: tuple[int, ...] | None, n: int) -> tuple[int, ...]:
    """The axes of solutions in front of those of one."""
    masses = (len(report.masses or ()),) if "masses" in options or options.get("rational_parts") else ()
    return (*masses, *((n // masses[0] if masses else n,) if of_source is None else of_source))


list_options(Gauge.solve, SOLVE_OPTIONS, "        ")
