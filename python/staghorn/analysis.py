"""Means with jackknife errors, effective masses, and masses from correlators C(t) of mesons.

With T slices and quarks that are antiperiodic or periodic in t, the pion of staggered quarks with the phase of gamma_5 is
C(t) = A cosh(m (T/2 - t)) for large t. Other mesons have an oscillating partner of the opposite parity too,
(-1)^t B cosh(m' (T/2 - t)). A sample is one configuration; average the sources of one configuration first, for they are not
independent. The source is on slice 0; np.roll(correlators, -t, axis=-1) brings it there from slice t.
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
    """A mass from the slices first <= t <= last. `error` is NaN for one sample. Of a fit also chi^2, its degrees of freedom, and the
    mass of the oscillating partner."""

    value: float
    error: float
    first: int
    last: int
    n_samples: int
    chi2: float | None = None  # of the mean; None: no fit, or one sample
    degrees: int = 0
    partner: float | None = None
    partner_error: float = np.nan

    def __str__(self) -> str:
        if not np.isfinite(self.error):
            return f"{self.value:.4f} (one sample: no error)"
        fit = "" if self.chi2 is None else f", chi^2/dof = {self.chi2:.1f}/{self.degrees}"
        return f"{self.value:.4f} +- {self.error:.4f} ({self.n_samples} samples, t = {self.first} to {self.last}{fit})"


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


@checked
def meson_mass(correlators: ArrayLike, first: int, last: int, *, partner: bool = True, correlated: bool = False) -> Mass:
    """The mass of a meson by a fit of A cosh(m (T/2 - t)) + (-1)^t B cosh(m' (T/2 - t)) to the folded mean on first <= t <= last.

    correlators  [sample, t] or [t], real parts
    first, last  slices of the fit, of 0 to T/2
    partner      whether the oscillating term is there
    correlated   weigh by the inverse of the covariance of slices, which needs more samples than slices; otherwise by the jackknife
                 error of each slice, and then chi^2 is smaller than that of independent slices

    The error is that of a jackknife over samples with the weights of the whole. Raises Error where the slices do not suffice, or where
    no mass fits.
    """
    samples = folded(np.atleast_2d(_reals("correlators", correlators)))
    n, half = len(samples), samples.shape[-1] - 1
    parameters = 4 if partner else 2
    if not 0 <= first <= last <= half or last - first + 1 < parameters:
        raise Error(f"first, last: expected {parameters} slices at least, of 0 to {half}, found {first} and {last}", "argument")
    t = np.arange(first, last + 1, dtype=np.float64)
    if correlated and n <= len(t):
        raise Error(f"correlated: expected more samples than the {len(t)} slices, found {n}", "argument")
    window = samples[:, first : last + 1]
    model = _CoshModel(t, 2 * half, partner, _weights(window, correlated))
    start = model.search(window.mean(axis=0))
    whole = model.fit(window.mean(axis=0), start)

    found = jackknife(window, lambda mean: model.fit(mean, whole))
    if not np.isfinite(found.value).all():
        raise Error(f"correlators: expected a meson with a mass on slices {first} to {last}, found none", "value")
    chi2 = model.chi2(window.mean(axis=0), whole) if n > 1 else None
    return Mass(float(found.value[0]), float(found.error[0]), first, last, n, chi2, len(t) - parameters,
                float(found.value[1]) if partner else None, float(found.error[1]) if partner else np.nan)


def _weights(window: Numbers, correlated: bool) -> Numbers:
    """W with |W (C - model)|^2 = chi^2. Of one sample: relative to its values."""
    n = len(window)
    if n == 1:
        return np.diag(1 / np.maximum(np.abs(window[0]), 1e-300))
    if not correlated:
        errors = window.std(axis=0, ddof=1) / np.sqrt(n)
        return np.diag(1 / np.maximum(errors, 1e-12 * np.abs(window.mean(axis=0)) + 1e-300))
    covariance = np.cov(window.T, ddof=1) / n
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


class _CoshModel:
    """Amplitudes are linear: for given masses they are those of least chi^2 (variable projection), so a fit seeks masses alone."""

    def __init__(self, t: Numbers, extent: int, partner: bool, weights: Numbers) -> None:
        self._t, self._extent, self._partner, self._weights = t, extent, partner, weights

    def _residual(self, correlator: Numbers, masses: Numbers) -> Numbers:
        t = self._t
        # cosh(m (T/2 - t)), 1 on the first slice: no overflow
        terms = [np.exp(-m * (t - t[0])) * (1 + np.exp(-m * (self._extent - 2 * t))) / (1 + np.exp(-m * (self._extent - 2 * t[0])))
                 for m in masses]
        if self._partner:
            terms[1] = terms[1] * (-1.0) ** t
        basis, wanted = self._weights @ np.array(terms).T, self._weights @ correlator
        amplitudes = np.linalg.lstsq(basis, wanted, rcond=None)[0]
        return np.asarray(wanted - basis @ amplitudes)

    def chi2(self, correlator: Numbers, masses: Numbers) -> float:
        return float((self._residual(correlator, masses) ** 2).sum())

    def search(self, correlator: Numbers) -> Numbers:
        """Masses of a coarse grid with the least chi^2."""
        grid = np.geomspace(0.03, 3.0, 24)
        tried = [np.array([m, other]) for m in grid for other in grid] if self._partner else [np.array([m]) for m in grid]
        return min(tried, key=lambda masses: self.chi2(correlator, masses))

    def fit(self, correlator: Numbers, start: Numbers) -> Numbers:
        """Levenberg and Marquardt's method in the logarithms of the masses."""
        logs, damping = np.log(start), 1e-3
        residual = self._residual(correlator, np.exp(logs))
        for _ in range(100):
            steps = 1e-6 * np.eye(len(logs))
            slopes = np.array([(self._residual(correlator, np.exp(logs + step)) - residual) / 1e-6 for step in steps]).T
            normal = slopes.T @ slopes
            step = -np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-300), slopes.T @ residual)
            tried = np.clip(logs + np.clip(step, -1, 1), np.log(1e-4), np.log(20.0))
            found = self._residual(correlator, np.exp(tried))
            is_done = np.abs(tried - logs).max() < 1e-8
            if (found**2).sum() < (residual**2).sum():
                logs, residual, damping = tried, found, damping / 10
            else:
                damping *= 10
            if is_done or damping > 1e12:
                break
        return np.asarray(np.exp(logs))
