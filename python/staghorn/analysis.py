"""Means with jackknife errors, effective masses and a mass, from correlators C(t) of the pion.

The pion of staggered quarks with the phase of gamma_5 has no oscillating partner: with T slices and quarks that are antiperiodic
or periodic in t, C(t) = A cosh(m (T/2 - t)) for large t. A sample is one configuration; sources on one configuration are averaged
first, for they are not independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import checked
from .errors import Error

Numbers = NDArray[np.float64]


def _reals(name: str, values: ArrayLike) -> Numbers:
    if np.iscomplexobj(values) or np.ndim(values) == 0:
        raise Error(f"{name}: expected a list of real numbers, found {np.ndim(values)} axes of {np.asarray(values).dtype}", "argument")
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Estimate:
    """Values and their jackknife errors. Errors are NaN where there is one sample only."""

    value: Numbers
    error: Numbers


@checked
def jackknife(samples: ArrayLike, function: Callable[[Numbers], Any] = lambda mean: mean) -> Estimate:
    """function(mean of the samples), with the error of leaving out one sample after the other.

    samples[n, ...]. error^2 = (n - 1) / n sum_k (f_k - mean of f)^2, f_k without sample k  [Efron, SIAM 1982]. Raises Error.
    """
    values = _reals("samples", samples)
    if len(values) == 0:
        raise Error("samples: expected one sample at least, found none", "argument")
    n = len(values)
    value = np.asarray(function(values.mean(axis=0)), dtype=np.float64)
    if n == 1:
        return Estimate(value, np.full_like(value, np.nan))
    total = values.sum(axis=0)
    left_out = np.array([function((total - one) / (n - 1)) for one in values], dtype=np.float64)
    spread = left_out - left_out.mean(axis=0)
    return Estimate(value, np.sqrt((n - 1) / n * (spread**2).sum(axis=0)))


@checked
def folded(correlator: ArrayLike) -> Numbers:
    """(C(t) + C(T - t)) / 2 for t = 0 ... T/2, along the last axis."""
    c = _reals("correlator", correlator)
    mirrored = np.roll(c[..., ::-1], 1, axis=-1)
    return np.asarray((c + mirrored)[..., : c.shape[-1] // 2 + 1] / 2)


@checked
def effective_mass(correlator: ArrayLike) -> Numbers:
    """The mass m(t), t = 1 ... T/2 - 1, of cosh: cosh m(t) = (C(t-1) + C(t+1)) / (2 C(t)), from the folded correlator. NaN where
    there is none."""
    c = folded(correlator)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.arccosh((c[..., :-2] + c[..., 2:]) / (2 * c[..., 1:-1])))


@dataclass(frozen=True)
class Mass:
    """A mass from the plateau first <= t <= last of effective masses. `error` is NaN for one sample."""

    value: float
    error: float
    first: int
    last: int
    n_samples: int

    def __str__(self) -> str:
        if not np.isfinite(self.error):
            return f"{self.value:.4f} (one sample: no error)"
        return f"{self.value:.4f} +- {self.error:.4f} ({self.n_samples} samples, t = {self.first} to {self.last})"


@checked
def pion_mass(correlators: ArrayLike, first: int, last: int) -> Mass:
    """The mean of effective masses over first <= t <= last, each weighted by its jackknife error, with the jackknife error of the
    whole. correlators[sample, t] or [t]. Raises Error where a slice of the plateau has no effective mass."""
    samples = np.atleast_2d(_reals("correlators", correlators))
    half = samples.shape[-1] // 2
    if not 1 <= first <= last <= half - 1:
        raise Error(f"first, last: expected 1 <= first <= last <= {half - 1}, found {first} and {last}", "argument")
    window = slice(first - 1, last)
    errors = jackknife(samples, effective_mass).error[window]
    weights = np.ones(last - first + 1) if not np.all(errors > 0) else errors**-2.0

    def plateau(correlator: Numbers) -> Any:
        return (weights * effective_mass(correlator)[window]).sum() / weights.sum()

    found = jackknife(samples, plateau)
    if not np.isfinite(found.value):
        raise Error(f"correlators: expected an effective mass on every slice from {first} to {last}, found none on some", "value")
    return Mass(float(found.value), float(found.error), first, last, len(samples))
