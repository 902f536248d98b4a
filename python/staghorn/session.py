"""Session: a configuration in a Context of its own, with NumPy arrays in and out. Each Python process solves by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import checked
from .compiled_modules import loading
from .context import Context
from .errors import Error, verify_is_an_argument
from .options import OPTIONS, SESSION_OPTIONS, SOLVE_OPTIONS, explain_options, list_options, option_texts
from .paths import PATHS, PathLike
from .progress import Progress
from .report import Report
from .structs import old_name

with loading():
    from . import _native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import AllWords, SessionWords, SolveWords

__all__ = ["Error", "Session", "read_gauge", "solve", "version"]

ComplexArray = NDArray[np.complex128]

version: str = _native.version


@checked
def read_gauge(path: PathLike, verify: bool = True,
               dataset: str | None = None, kyu: tuple[int, int, int, int] | None = None,
               lattice: tuple[int, int, int, int] | None = None, *, probe: bool = False) -> tuple[ComplexArray, dict[str, Any]]:
    """The links of a gauge file and what its header says.

    Any format that `staghorn inspect` knows; found from the content. Returns U[T, Z, Y, X, mu, 3, 3] in complex128 and
    a dict with format, lattice (X, Y, Z, T), precision, header fields, checksums, warnings and fault. With `verify` an
    absent or wrong checksum raises Error, and so do NaN, infinities and zeros among the links; without it the mismatch
    is only listed, and `fault` says what is wrong with the links. `dataset` names the links of an HDF5
    file that are not in /links. `kyu`: the extents X, Y, Z, T of a file of KYU, which has no header. `lattice`: the
    same for a file of LIME with nothing but the numbers of ILDG. With `probe` a child process meets an HDF5 file first,
    so that a damaged one that makes the HDF5 library crash raises Error.
    """
    with verify_is_an_argument():
        return _native.read_gauge(os.fsdecode(path), bool(verify), dataset, kyu, lattice, bool(probe))


class Session:
    """One gauge configuration, loaded and set up once, solved on many times: a Context of this process and a Gauge in it.

    gauge: path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]; None with `fat` and `naik`, the files of improved
    quarks. order: "lex" says that an array is U[T, Z, Y, X, mu, 3, 3], "pyquda" that it is U[mu, T, Z, Y, X, 3, 3]; it is
    needed where a shape fits both. The options are those of the program:

    {options}

    None stands for the default, True and False for on and off. `boundary` may be four numbers in units of pi.
    """

    @checked
    def __init__(self, gauge: PathLike | ArrayLike | None = None, *, order: str | None = None, **options: Unpack[SessionWords]) -> None:
        given: dict[str, Any] = dict(options)
        if "long" in given:
            old_name("long", "naik")
            given["naik"] = given.pop("long")
        texts = option_texts(SESSION_OPTIONS, given)
        if gauge is None and not {"fat", "naik"} <= set(texts):
            raise Error("gauge: expected a file, links, or `fat` and `naik`, found none of them", "argument")
        if gauge is None or isinstance(gauge, PATHS):
            self._context = Context(gauge, **given)
            self._gauge = self._context._read(gauge, None, {})
        else:
            links = links_array(gauge, order)
            if texts.get("shares") == "auto":
                raise Error("shares: expected even, or the shares of the lattice of these links, which is cut already, found auto", "argument")
            self._context = Context(links.shape[3::-1], **given)
            self._gauge = self._context.gauge(links)
        _ = self._gauge.summary  # measured here; reports of solves have it

    def __repr__(self) -> str:
        return f"<staghorn.Session {'x'.join(map(str, self.lattice))} on {self._context.device}>"

    @property
    def lattice(self) -> tuple[int, int, int, int]:
        """Extents X, Y, Z, T."""
        return self._context.lattice

    @property
    def links(self) -> ComplexArray:
        """As Gauge.links."""
        return self._gauge.links

    @property
    def gauge(self) -> dict[str, Any]:
        """As Gauge.summary."""
        found = self._gauge.summary
        return {**found, "link_trace": complex(*found["link_trace"])}

    @checked
    def solve(self, mass: float | None, source: str | PathLike | ArrayLike | None = None, *, guess: ArrayLike | None = None,
              progress: Progress | bool | None = None, **options: Unpack[SolveWords]) -> tuple[ComplexArray, Report]:
        """As Gauge.solve, with any arrays of the host that become complex128.

        mass     lattice mass a m; above 0 for the full system; None with `masses` or `rational`
        source   vector b[T, Z, Y, X, 3], several of them [n, T, Z, Y, X, 3], or a source in words; None with `sources`
        guess    initial guess of the shape of the solution; zero by default
        progress called as progress(iteration, residual_over_tolerance) every 16 iterations, counted over all batches

        {options}
        """
        option_texts(SOLVE_OPTIONS, options)  # others belong to the session
        asked: str | bytes | os.PathLike[Any] | ComplexArray | None
        if source is None or isinstance(source, PATHS):
            asked = source
        else:
            asked = complex_array(source, "source", (3,), (0, 1))
            if asked.shape[-5:-1] != self.lattice[::-1]:
                raise Error(f"source: expected shape {(*asked.shape[:-5], *self.lattice[::-1], 3)}, found {asked.shape}", "layout")
        return self._gauge._solve_as_program(mass, asked, guess, progress, dict(options))

    @checked
    def read_eigenpairs(self, path: PathLike) -> None:
        """As Gauge.read_eigenpairs."""
        self._gauge.read_eigenpairs(path)

    @checked
    def eigen(self, pairs: int, **options: Any) -> tuple[NDArray[np.float64], ComplexArray | None, dict[str, Any]]:
        """As Gauge.eigen."""
        return self._gauge.eigen(pairs, **options)


@checked
def solve(gauge: PathLike | ArrayLike | None, mass: float | None, source: str | PathLike | ArrayLike | None = None, *,
          guess: ArrayLike | None = None, progress: Progress | bool | None = None, order: str | None = None,
          **options: Unpack[AllWords]) -> tuple[ComplexArray, Report]:
    """Session(gauge, ...).solve(mass, source, ...), with the options of both: for one solve on a configuration."""
    known: Any = {name: value for name, value in options.items() if name in SESSION_OPTIONS}
    others: Any = {name: value for name, value in options.items() if name not in known}
    return Session(gauge, order=order, **known).solve(mass, source, guess=guess, progress=progress, **others)


list_options(Session, SESSION_OPTIONS, "    ")
list_options(Session.solve, SOLVE_OPTIONS, "        ")
explain_options(Session.__init__, SESSION_OPTIONS)
explain_options(Session.solve, SOLVE_OPTIONS)
explain_options(solve, OPTIONS)


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
