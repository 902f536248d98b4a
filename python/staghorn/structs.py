"""Arguments of Python as the structs of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from .compiled_modules import loading
from .errors import Error, choice

with loading():
    from . import _interface as native

Boundary = Union[str, Sequence[float]]  # "antiperiodic" in t, "periodic", or four numbers in units of pi


def link_layout(order: str, phases: str, boundary: Boundary, boundary_in_links: bool, dagger: bool,
                scale: Sequence[float] | None, links: int, version: int) -> native.Links:
    """The arguments of Context.gauge as the library has them."""
    layout = native.Links()
    orders = {**native.ORDERS, "even-odd": native.ORDERS["qdp"], "milc": native.ORDERS["even-odd"]}
    layout.order = orders.get(order, 0)
    layout.phases = choice("phases", phases, native.PHASES)
    layout.boundary_in, layout.dagger = int(boundary_in_links), int(dagger)
    layout.reals, layout.generation = links, version
    named = {"antiperiodic": (0.0, 0.0, 0.0, 1.0), "periodic": (0.0, 0.0, 0.0, 0.0)}
    if isinstance(boundary, str) and boundary not in named:
        raise Error(f"boundary: expected antiperiodic, periodic or four numbers in units of pi, found {boundary!r}", "argument")
    layout.set_theta(_four_numbers("boundary", named[boundary] if isinstance(boundary, str) else boundary))
    if scale is not None:
        layout.set_scale(_four_numbers("scale", scale))
    return layout


def action_of(action: str, u0: float, naik_epsilon: float, unitarize: str, long_links: int) -> native.Action | None:
    """The action that makes fat and long links of thin ones; None for naive quarks. Raises Error."""
    made = native.Action()
    made.quarks = choice("action", action, native.ACTIONS)
    made.unitarize = choice("unitarize", unitarize, native.GROUPS)
    made.long_reals, made.u0, made.naik_epsilon = long_links, u0, naik_epsilon
    return made if action != "naive" else None


def _four_numbers(name: str, values: Sequence[float]) -> tuple[float, float, float, float]:
    if len(values) != 4:
        raise Error(f"{name}: expected four numbers, for x, y, z, t, found {len(values)}", "argument")
    x, y, z, t = map(float, values)
    return x, y, z, t


def vector_layout(order: str, phases: str) -> native.Vectors:
    layout = native.Vectors()
    layout.order = native.ORDERS["even-odd"] if order == "half" else native.ORDERS.get(order, 0)
    layout.half = int(order == "half")
    layout.phases = choice("phases", phases, native.PHASES)
    return layout


def request_of(mass: float, system: str, tolerance: float, tolerance_hq: float, max_iterations: int | None, precision: str,
             sloppy: str | None, sloppy_links: int | None, stop: str, sign: int, halved: bool, chronological: int,
             options: dict[str, Any]) -> native.Request:
    """The arguments of Gauge.solve as the library has them; `options` by their names in the table of options."""
    request = native.Request()
    request.mass, request.tolerance, request.tolerance_hq = mass, tolerance, tolerance_hq
    request.sign, request.halved = sign, int(halved)
    if max_iterations is not None:
        if max_iterations < 0:  # -1 is STAGHORN_NO_LIMIT
            raise Error(f"max_iterations: expected a number of at least 0, or None, found {max_iterations}", "argument")
        request.max_iterations = max_iterations
    request.system = choice("system", system, native.SITES)
    request.precision = choice("precision", precision, native.PRECISIONS)
    if sloppy is not None:
        request.sloppy = choice("sloppy", sloppy, native.PRECISIONS)
    request.sloppy_reals = sloppy_links or 0
    request.stop = choice("stop", stop, native.STOPS)
    request.chronological = chronological
    if options:
        from .session import SESSION_OPTIONS, SOLVE_OPTIONS, option_texts

        for name, text in option_texts({**SOLVE_OPTIONS, **SESSION_OPTIONS}, options).items():
            request.set(name, text)
    return request
