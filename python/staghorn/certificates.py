"""Certificates of solutions that any code wrote: the residual in fp64, and the convention where it is another (docs/certify.md)."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import checked
from .compiled_modules import loading
from .errors import Error
from .options import OPERATOR_OPTIONS, explain_options, option_texts
from .paths import PATHS, PathLike
from .session import ComplexArray, complex_array, links_array

with loading():
    from . import _native

# Options of solves alone.
_OF_SOLVES = ("precision", "links", "sloppy", "sloppy_links", "fat_links", "naik_links", "sloppy_naik_links", "keep_thin_links", "eigenvectors", "eigenpairs")
CERTIFY_OPTIONS = {name: row for name, row in OPERATOR_OPTIONS.items() if name not in _OF_SOLVES}


@checked
def certify(gauge: PathLike | ArrayLike | None, solution: PathLike | ArrayLike, source: str | PathLike | ArrayLike = "point:0,0,0,0", *,
            mass: float | None = None, system: str | None = None, phases: str = "cps", tolerance: float | None = None,
            any_convention: bool = False, search: bool = True, color: int | str = "all", noise_vectors: int = 1,
            order: str | None = None, **options: Any) -> dict[str, Any]:
    """Judges solutions x of M x = b or A x = b, as `staghorn certify` does, and returns its report.

    gauge           path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]; None with `fat` and `naik`
    solution        path of a file of vectors, or x[T, Z, Y, X, 3] or [n, T, Z, Y, X, 3]
    source          b likewise, or in words: "point:x,y,z,t", "wall:t", "z2:SEED", "file:F" and so on, with `color` and `noise_vectors`
    mass            lattice mass a m; None: any
    system          "full", "even" or "odd"; None: any
    phases          "cps" or "milc", of solution and source
    tolerance       relative residual up to which a solution is certified; None: 1e-10 of numbers in fp64, 1e-6 in fp32
    any_convention  certify a solution in whatever convention it is
    search          look for other conventions where this one does not fit
    order           of links, as of Session

    The others are those of the program: `action`, `u0`, `naik_epsilon`, `boundary`, `no_verify` and so on.
    report["outcome"] is "certified", "other_convention", "rounded" or "not_certified", and report["convention"] is the
    convention that was found, or None. Runs in this process alone. Raises Error.
    """
    texts = option_texts((*CERTIFY_OPTIONS, "mass", "system", "phases", "tolerance", "color", "noise_vectors"),
                         {**options, "mass": mass, "system": system, "phases": phases, "tolerance": tolerance, "color": color, "noise_vectors": noise_vectors})
    if gauge is None and not {"fat", "naik"} <= set(texts):
        raise Error("gauge: expected a file, links, or `fat` and `naik`, found none of them", "argument")
    links = None if gauge is None or isinstance(gauge, PATHS) else links_array(gauge, order)
    if isinstance(source, PATHS):
        texts["source"] = os.fsdecode(source)
    given = [values for values in (solution, source) if not isinstance(values, PATHS)]
    stored = "fp32" if any(np.asarray(values).dtype in (np.complex64, np.float32) for values in given) else "fp64"
    report: dict[str, Any] = json.loads(_native.certify(
        texts, os.fsdecode(gauge) if isinstance(gauge, PATHS) else "", links, os.fsdecode(solution) if isinstance(solution, PATHS) else "",
        None if isinstance(solution, PATHS) else _vectors(solution, "solution"),
        None if isinstance(source, PATHS) else _vectors(source, "source"), stored, bool(any_convention), bool(search)))
    return report


def _vectors(values: ArrayLike, name: str) -> ComplexArray:
    array = complex_array(values, name, (3,), (0, 1))
    return array if array.ndim == 6 else np.ascontiguousarray(array[None])


explain_options(certify, CERTIFY_OPTIONS)
