"""Gradient flow, smearing, gauge fixing and loops of a gauge configuration (docs/smoothing.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..arguments import checked
from ..compiled_modules import loading
from ..errors import verify_is_an_argument
from ..options import option_texts
from ..paths import PATHS, PathLike
from ..session import ComplexArray, links_array

with loading():
    from .. import _native

__all__ = ["smear", "smooth"]


@checked
def smooth(gauge: PathLike | ArrayLike, method: str = "none", *, time: float | None = None, step: float | None = None,
           measure_every: int | None = None, steps: int | None = None, weights: float | Sequence[float] | None = None,
           space_only: bool | None = None, relaxation: float | None = None, tolerance: float | None = None,
           max_sweeps: int | None = None, loops: tuple[int, int] | None = None, verify: bool = True,
           reunitarize: bool = False, device: str = "auto", order: str | None = None) -> tuple[ComplexArray, dict[str, Any]]:
    """The links of a configuration smoothed or gauge fixed, and the report of `staghorn smooth`.

    gauge          path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]
    method         wilson or symanzik: gradient flow; ape, stout or hyp: smearing; coulomb or landau: gauge fixing; none: measure alone
    time           of a flow: how far, in units of a^2; a multiple of the step
    step           of a flow: the step of its third-order Runge-Kutta method; None: 0.02
    measure_every  of a flow: measure after every so many steps; None: 1
    steps          of smearing: how often; None: 1
    weights        alpha of ape (None: 0.6), rho of stout (0.1), or the three alphas of hyp (0.75, 0.6, 0.3)
    space_only     of ape and stout: links and staples in space alone
    relaxation     of gauge fixing: over-relaxation, from 1 to below 2; None: 1.7
    tolerance      of gauge fixing: theta at which it ends; None: 1e-12
    max_sweeps     of gauge fixing: most sweeps; None: 10000
    loops          (R, T): Wilson loops up to R sites in space and T in time, of the links at the end
    verify         of a file: checksums that are absent or wrong raise Error
    reunitarize    project the links onto SU(3) first
    device         auto, cpu or cuda; wilson, symanzik and stout run on GPUs
    order          of links, as of Session

    Returns U[T, Z, Y, X, 4, 3, 3] in complex128 and a dict in lattice units: `before` and `after` with plaquette, Polyakov loop,
    energy density and charge, `flow` with them at each time, `t0`, `w0`, `gauge_fixing`, `wilson_loops`. Gauge fixing that runs out of
    sweeps is a result, whose "outcome" is "not_converged". fp64; the bits are those of the program on any ranks. Runs in this process
    alone. Raises Error.
    """
    texts = option_texts(_NAMES, {"method": method, "time": time, "step": step, "measure_every": measure_every, "steps": steps,
                                  "weights": weights, "space_only": space_only, "relaxation": relaxation, "tolerance": tolerance,
                                  "max_sweeps": max_sweeps, "loops": loops})
    with verify_is_an_argument():
        links, report = _native.smooth(texts, os.fsdecode(gauge) if isinstance(gauge, PATHS) else "",
                                       None if isinstance(gauge, PATHS) else links_array(gauge, order), bool(verify), bool(reunitarize), device)
    return links, json.loads(report)


@checked
def smear(gauge: PathLike | ArrayLike, action: str, *, u0: float = 1.0, naik_epsilon: float = 0.0, unitarize: str = "u3", verify: bool = True,
          reunitarize: bool = False, order: str | None = None) -> tuple[ComplexArray, ComplexArray]:
    """The fat and Naik links of improved quarks, as `staghorn smear` makes them (docs/improved-quarks.md).

    gauge         path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]
    action        asqtad or hisq
    u0            of asqtad: the tadpole factor
    naik_epsilon  of HISQ: correction of one-link and Naik terms for heavy quarks
    unitarize     of HISQ: u3 or su3, the group onto which the first level is projected
    verify, reunitarize, order   as of `smooth`

    Returns fat links and Naik links, each [T, Z, Y, X, 4, 3, 3] in complex128: Naik links of three steps with their coefficient, without
    staggered phases. Context.gauge(fat, naik=naik) solves with them. Runs in this process alone. Raises Error.
    """
    with verify_is_an_argument():
        fat, naik, weight = _native.smear(os.fsdecode(gauge) if isinstance(gauge, PATHS) else "",
                                          None if isinstance(gauge, PATHS) else links_array(gauge, order), action, float(u0),
                                          float(naik_epsilon), unitarize, bool(verify), bool(reunitarize))
    return fat, weight * naik


_NAMES = ("method", "time", "step", "measure_every", "steps", "weights", "space_only", "relaxation", "tolerance", "max_sweeps", "loops")
