"""Solving from Python: NumPy arrays in and out, the same requests and reports as the command line.

Every Python process solves on its own (with threads). Under mpirun each rank is its own, independent solver: good for
many configurations at once. To cut one lattice among ranks use the program `staghorn`.
"""

from __future__ import annotations

import inspect
import json
import os
import textwrap
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .compiled_modules import loading

with loading():
    from . import _native
from .errors import Error, did_you_mean, verify_is_an_argument
from .paths import PATHS, PathLike
from .progress import Progress, Shown
from .report import Report

__all__ = ["Error", "Session", "read_gauge", "solve", "version"]

ComplexArray = NDArray[np.complex128]

version: str = _native.version


def read_gauge(path: PathLike, verify: bool = True,
               dataset: str | None = None, kyu: tuple[int, int, int, int] | None = None,
               lattice: tuple[int, int, int, int] | None = None) -> tuple[ComplexArray, dict[str, Any]]:
    """The links of a gauge file and what its header says.

    Any format that `staghorn inspect` knows; found from the content. Returns U[T, Z, Y, X, mu, 3, 3] in complex128 and
    a dict with format, lattice (X, Y, Z, T), precision, header fields, checksums, warnings and fault. With `verify` an
    absent or wrong checksum raises Error, and so do NaN, infinities and zeros among the links; without it the mismatch
    is only listed, and `fault` says what is wrong with the links. `dataset` names the links of an HDF5
    file that are not in /links. `kyu`: the extents X, Y, Z, T of a file of KYU, which has no header. `lattice`: the
    same for a file of LIME with nothing but the numbers of ILDG.
    """
    with verify_is_an_argument():
        return _native.read_gauge(os.fsdecode(path), verify, dataset, kyu, lattice)


class Session:
    """One gauge configuration, loaded and set up once, solved on many times.

    gauge: path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]; None with `fat` and `long`, the files of improved
    quarks. order: "lex" says that an array is U[T, Z, Y, X, mu, 3, 3], "pyquda" that it is U[mu, T, Z, Y, X, 3, 3]; it is
    needed where a shape fits both. The options are those of the program:

{session_options}

    None stands for the default, True and False for on and off. `boundary` may be four numbers in units of pi.
    """

    def __init__(self, gauge: PathLike | ArrayLike | None = None, *, order: str | None = None, **options: Any) -> None:
        texts = option_texts(SESSION_OPTIONS, options)
        if gauge is None:
            if not {"fat", "long"} <= set(texts):
                raise Error("gauge: expected a file, links, or `fat` and `long`, found none of them", "argument")
            self._native = _native.Session("", texts)
        elif isinstance(gauge, PATHS):
            self._native = _native.Session(os.fsdecode(gauge), texts)
        else:
            self._native = _native.Session(links_array(gauge, order), texts)

    @property
    def lattice(self) -> tuple[int, int, int, int]:
        """Extents X, Y, Z, T."""
        x, y, z, t = self._native.lattice
        return x, y, z, t

    @property
    def links(self) -> ComplexArray:
        """The links in use, U[T, Z, Y, X, mu, 3, 3], re-unitarised if that was asked for or implied; of improved quarks the
        fat ones. A copy."""
        return self._native.links()

    @property
    def gauge(self) -> dict[str, Any]:
        """File, format, plaquette, link trace, unitarity and checksums, as in the report."""
        return self._native.gauge()

    def solve(self, mass: float | None, source: str | ArrayLike | None = None, *, guess: ArrayLike | None = None,
              progress: Progress | bool | None = None, **options: Any) -> tuple[ComplexArray, dict[str, Any]]:
        """Solves (2 mass + D) x = b (system "full") or (4 mass^2 - D^2) x = b ("even", "odd").

        mass     lattice mass a m; above 0 for the full system; None with `masses`, several of them
        source   vector b[T, Z, Y, X, 3], several of them [n, T, Z, Y, X, 3], or a source as on the command line:
                 "point:x,y,z,t", "corner-wall:t", "even-wall:t", "wall:t", "z2:SEED", "gaussian:SEED", "file:F";
                 None with `sources`, a list of such words or "@FILE"
        guess    initial guess of the shape of the solution; zero by default
        progress called as progress(iteration, residual_over_tolerance) every 16 iterations, counted over all batches; an error
                 that it raises ends the solve. True: a line that is written over, in a terminal or a notebook

{solve_options}

        `color` and `noise_vectors` are for sources in words. Returns the solution, of the shape of the source
        ([n, T, Z, Y, X, 3] for a source in words), and the report as a dict. With `masses`, and with
        `rational_parts`, the solution has an axis of masses in front, and report["rhs"] is masses times sources, mass by mass. Non-convergence is a result
        (report["outcome"]); bad input raises Error.
        """
        several = [name for name in ("masses", "rational") if options.get(name) is not None]
        if (mass is not None) + len(several) != 1:
            found = [*(["mass"] if mass is not None else []), *several]
            raise Error(f"mass: expected a number, or None with `masses` or `rational`, found {' and '.join(found) or 'none'}", "argument")
        if several and guess is not None:
            raise Error(f"guess: expected a single mass, found `{several[0]}`, which starts from zero", "argument")
        many = options.get("sources") is not None
        if many == (source is not None):
            raise Error(f"source: expected one, or None with `sources`, found {'both' if many else 'none'}", "argument")
        if guess is not None and (many or options.get("batch") is not None):
            raise Error(f"guess: expected a single batch, found `{'sources' if many else 'batch'}`, which starts from zero", "argument")
        if many and not isinstance(options["sources"], str):
            options = {**options, "sources": ";".join(map(str, options["sources"]))}
        source = "" if source is None else os.fsdecode(source) if isinstance(source, bytes) else source
        texts = option_texts(SOLVE_OPTIONS, options)
        if mass is not None:
            texts["mass"] = option_text(float(mass))
        single = False
        if not isinstance(source, str):
            source = complex_array(source, "source", (3,), (0, 1))
            single = source.ndim == 5
            source = source[None] if single else source
        if guess is not None:
            guess = complex_array(guess, "guess", (3,), (0, 1))
            guess = guess if guess.ndim == 6 else guess[None]
        with Shown(progress) as shown:
            solution, text = self._native.solve(source, guess, texts, shown.function)
            report = json.loads(text)
            if progress is True:
                shown.ended(Report.from_dict(report))
        if "masses" in several or options.get("rational_parts"):
            solution = solution.reshape(len(report["masses"]), -1, *solution.shape[1:])
            return (solution[:, 0] if single else solution), report
        return (solution[0] if single else solution), report

    def eigen(self, pairs: int, *, tolerance: float = 1e-10, max_calls: int = 1000000, seed: int = 1,
              vectors: bool = True, output: PathLike | None = None, storage: str = "fp64",
              force: bool = False, checkpoint: PathLike | None = None, checkpoint_every: float = 600,
              resume: bool = False) -> tuple[NDArray[np.float64], ComplexArray | None, dict[str, Any]]:
        """The lowest eigenpairs of K = -D^2 on even sites, as `staghorn eigen` finds and certifies them.

        pairs      how many, from the lowest
        tolerance  residual |K v - lambda v| of each to reach, over the largest eigenvalue of K
        max_calls  the most applications of K
        seed       of the random start vector
        vectors    whether they are returned
        output     path of a file for values and vectors, which `eigenvectors` of a session reads: HDF5, or MILC's form where
                   it ends in .scidac or .lime, packed where it ends in .packed.scidac or .packed.lime
        storage    precision of the vectors in that file: fp64, fp32 or fp16
        force      replace the file if it exists
        checkpoint, checkpoint_every, resume   keep the state of the search in this file every so many seconds, and go on
                   from it

        Returns the eigenvalues, ascending, in lattice units; the vectors [n, T, Z, Y, X, 3] of norm 1, zero on odd sites,
        or None; and the report as a dict. What is not certified is a result (report["outcome"]): then there may be
        fewer pairs. Bad input raises Error.
        """
        found, report = self._native.eigen(int(pairs), float(tolerance), int(max_calls), int(seed), bool(vectors),
                                           None if output is None else os.fsdecode(output), storage, bool(force),
                                           None if checkpoint is None else os.fsdecode(checkpoint), float(checkpoint_every),
                                           bool(resume))
        report = json.loads(report)
        return np.array(report["eigenvalues"]), found, report


def solve(gauge: PathLike | ArrayLike | None, mass: float | None, source: str | ArrayLike | None = None, *,
          guess: ArrayLike | None = None, progress: Progress | bool | None = None, order: str | None = None,
          **options: Any) -> tuple[ComplexArray, dict[str, Any]]:
    """Session(gauge, ...).solve(mass, source, ...), with the options of both: for one solve on a configuration."""
    known = {name: value for name, value in options.items() if name in SESSION_OPTIONS}
    return Session(gauge, order=order, **known).solve(mass, source, guess=guess, progress=progress,
                                         **{name: value for name, value in options.items() if name not in known})


# name -> row of the table of options (solver/request/option_table.hpp). `mass` and `source` are arguments of their own.
SESSION_OPTIONS = {row["name"]: row for row in _native.options() if row["of"] == "session"}
SOLVE_OPTIONS = {row["name"]: row for row in _native.options() if row["of"] == "solve" and row["name"] not in ("mass", "source")}


def option_texts(known: dict[str, Any], options: dict[str, Any]) -> dict[str, str]:
    """The values of `options` as the texts that the table parses, without those that are None. Names that are not in `known` raise
    TypeError."""
    for name in options:
        if name not in known:
            raise TypeError(f"unexpected keyword argument {name!r}{did_you_mean(name, known)}")
    return {name: option_text(value) for name, value in options.items() if value is not None}


def option_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(map(option_text, value))
    return os.fsdecode(value) if isinstance(value, PATHS) else str(value)


def explain_options(function: Any, rows: dict[str, Any]) -> None:
    """Gives `function` the signature that its **options stand for."""
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    of_table = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row["default"]) for name, row in rows.items()]
    function.__signature__ = inspect.Signature(own + of_table)


def option_list(rows: dict[str, Any], indent: str) -> str:
    """One paragraph for each option: name, values, default, help."""
    width = max(map(len, rows))
    lines = []
    for name, row in rows.items():
        default = f" (default: {row['default'] or 'none'})" if row["default"] is not None else ""
        lines += textwrap.wrap(f"{name:<{width}}  {row['value']}: {row['help']}{default}", 118, initial_indent=indent,
                               subsequent_indent=indent + " " * (width + 2))
    return "\n".join(lines)


Session.__doc__ = cast(str, Session.__doc__).replace("{session_options}", option_list(SESSION_OPTIONS, "    "))
Session.solve.__doc__ = cast(str, Session.solve.__doc__).replace("{solve_options}", option_list(SOLVE_OPTIONS, "        "))
explain_options(Session.__init__, SESSION_OPTIONS)
explain_options(Session.solve, SOLVE_OPTIONS)
explain_options(solve, {**SOLVE_OPTIONS, **SESSION_OPTIONS})


def links_array(values: ArrayLike, order: str | None) -> ComplexArray:
    """Links as U[T, Z, Y, X, mu, 3, 3]. `order` "lex" says that they are so, "pyquda" that they are U[mu, T, Z, Y, X, 3, 3];
    None: the shape says it, and where it fits both that is an Error."""
    if order not in (None, "lex", "pyquda"):
        raise Error(f"order: expected lex, U[T, Z, Y, X, mu, 3, 3], or pyquda, U[mu, T, Z, Y, X, 3, 3], found {order!r}", "argument")
    shape = np.shape(values)
    if order is None and len(shape) == 7 and shape[0] == shape[4] == 4:
        raise Error(f"links: expected `order` beside shape {shape}, which fits U[T, Z, Y, X, mu, 3, 3] (order='lex') and PyQUDA's "
                    "U[mu, T, Z, Y, X, 3, 3] (order='pyquda'), found none", "layout")
    if order == "pyquda":
        complex_array(values, "links", (3, 3), (1,))
        values = np.moveaxis(np.asarray(values), 0, 4)
    return complex_array(values, "links", (4, 3, 3))


def complex_array(values: ArrayLike, what: str, site_shape: tuple[int, ...], leading: tuple[int, ...] = (0,)) -> ComplexArray:
    """`values` as a contiguous complex128 array [..., T, Z, Y, X, *site_shape] with so many leading axes, or Error."""
    array = np.ascontiguousarray(values, dtype=np.complex128)
    if array.ndim - 4 - len(site_shape) not in leading or array.shape[array.ndim - len(site_shape):] != site_shape:
        expected = " or ".join(str(("n",) * n + ("T", "Z", "Y", "X", *site_shape)).replace("'", "") for n in leading)
        raise Error(f"{what}: expected shape {expected}, found {array.shape}", "layout")
    return array
