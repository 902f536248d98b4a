"""Arguments of Python as the structs of the library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Union

from .compiled_modules import loading
from .errors import Error, choice

with loading():
    from . import _interface as native

Boundary = Union[str, Sequence[Union[str, float]]]  # "antiperiodic" in t, "periodic", or one for each direction, in units of pi
_BOUNDARIES = {"antiperiodic": "0,0,0,1", "periodic": "0,0,0,0"}


def boundary_text(boundary: Boundary) -> Boundary:
    """`boundary` as the table of options knows it: one word stands for all directions."""
    if isinstance(boundary, str) and "," not in boundary:
        if boundary not in _BOUNDARIES:
            raise Error(f"boundary: expected antiperiodic, periodic or four numbers in units of pi, found {boundary!r}", "argument")
        return _BOUNDARIES[boundary]
    if not isinstance(boundary, str):
        _four("boundary", boundary)
    return boundary


def link_layout(order: str, phases: str, boundary_in_links: bool, dagger: bool, scale: Sequence[float] | None,
                coefficient: float = 0.0) -> native.Links:
    """How links lie and what is multiplied into them."""
    factors = None if scale is None else [float(one) for one in scale]
    if factors is not None:
        _four("scale", factors)
    return native.Links(native.ORDERS[order], choice("phases", phases, native.PHASES), bool(boundary_in_links), bool(dagger), float(coefficient),
                        factors)


def vector_layout(order: str, phases: str) -> native.Vectors:
    return native.Vectors(native.ORDERS[order if order != "half" else "even-odd-x"], choice("phases", phases, native.PHASES),
                          order == "half")


def old_name(old: str, new: str) -> None:
    """Warns of a word that has another one now."""
    warnings.warn(f"{old} is the old name of {new}", DeprecationWarning, stacklevel=5)


def _four(name: str, values: Sequence[object]) -> None:
    if len(values) != 4:
        raise Error(f"{name}: expected four numbers, for x, y, z, t, found {len(values)}", "argument")
