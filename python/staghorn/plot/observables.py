"""What solves measure: the pion, the condensate, eigenvalues."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..analysis import Mass, effective_mass, jackknife
from ..errors import Error
from ..report import Report
from .figures import MARKERS, color, new_axes, style
from .reports import ReportLike, Reports, report_of, reports_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def correlators_of(reports: Reports | np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Correlators of the pion, [sample, t], from reports of point or corner-wall sources or from such an array. Raises Error."""
    if isinstance(reports, np.ndarray):
        return np.atleast_2d(reports.astype(np.float64))
    found = reports_of(reports, "pion", "pion_correlator")
    lengths = {len(report["pion_correlator"]) for report in found}
    if len(lengths) > 1:
        raise Error(f"pion: expected correlators of one length, found {sorted(lengths)}", "argument")
    return np.array([report["pion_correlator"] for report in found], dtype=np.float64)


@checked
def pion(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, mass: Mass | None = None, label: str | None = None,
         width: str = "column") -> Axes:
    """Draws C(t) = sum_x |G(x, t)|^2, the mean of the samples with jackknife errors; with `mass` also its cosh on the plateau.

    reports  samples: Report, dict or path, or an array [sample, t]; one configuration each
    ax       axes to draw into: several ensembles may share them
    label    of this ensemble

    Returns the axes. Raises Error.
    """
    samples = correlators_of(reports)
    estimate = jackknife(samples)
    slices = np.arange(samples.shape[1])
    with style():
        axes = ax if ax is not None else new_axes(width)
        k = _drawn(axes)
        _points(axes, slices, estimate.value, estimate.error, k, label or _samples(samples))
        if mass is not None:
            half, t = samples.shape[1] / 2, np.linspace(mass.first, samples.shape[1] - mass.first, 200)
            middle = np.arange(mass.first, mass.last + 1)
            scale = np.exp(np.mean(np.log(estimate.value[middle] / np.cosh(mass.value * (half - middle)))))
            axes.plot(t, scale * np.cosh(mass.value * (half - t)), color=color(k), linewidth=0.8,
                      label=rf"$\cosh$, $am_\pi$ = {_with_error(mass.value, mass.error)}")
        axes.set_yscale("log")
        axes.set_xlabel(r"$t/a$")
        axes.set_ylabel(r"$C_\pi(t)$")
        axes.legend(loc="upper center")
    return axes


@checked
def effective_masses(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, mass: Mass | None = None,
                     label: str | None = None, width: str = "column") -> Axes:
    """Draws a m_eff(t), cosh m_eff = (C(t-1) + C(t+1)) / (2 C(t)) of the folded mean, with jackknife errors; with `mass` its
    plateau and error. Arguments as of `pion`. Returns the axes. Raises Error."""
    samples = correlators_of(reports)
    estimate = jackknife(samples, effective_mass)
    slices = np.arange(1, samples.shape[1] // 2)
    with style():
        axes = ax if ax is not None else new_axes(width)
        k = _drawn(axes)
        _points(axes, slices, estimate.value, estimate.error, k, label or _samples(samples))
        if mass is not None:
            across = [mass.first - 0.3, mass.last + 0.3]
            axes.plot(across, [mass.value] * 2, color=color(k), linewidth=0.8,
                      label=rf"$am_\pi$ = {_with_error(mass.value, mass.error)}")
            if np.isfinite(mass.error):
                axes.fill_between(across, mass.value - mass.error, mass.value + mass.error, color=color(k), alpha=0.25, linewidth=0)
        axes.set_xlim(0, samples.shape[1] / 2)
        axes.set_xlabel(r"$t/a$")
        axes.set_ylabel(r"$a\,m_{\mathrm{eff}}(t)$")
        axes.legend(loc="best")
    return axes


@checked
def condensate(reports: Reports, *, ax: Axes | None = None, label: str | None = None, width: str = "column") -> Axes:
    """Draws Tr M^-1 / V of noise sources over the mass, with standard errors over the vectors, from reports with one mass or
    several. Arguments as of `pion`. Returns the axes. Raises Error."""
    points = []
    for report in reports_of(reports, "condensate", "condensate", "condensates"):
        several = report.get("condensates") or [report["condensate"]]
        masses = report["masses"] if report.get("condensates") else [report["mass"]]
        points += [(mass, one["value"], one["error"], one["n_vectors"]) for mass, one in zip(masses, several)]
    points.sort()
    masses, values, errors, counts = map(np.array, zip(*points))
    with style():
        axes = ax if ax is not None else new_axes(width)
        vectors = f"{counts.min()}" + (f" to {counts.max()}" if counts.min() != counts.max() else "")
        _points(axes, masses, values, np.where(counts > 1, errors, np.nan), _drawn(axes), label or f"{vectors} noise vectors")
        axes.set_xlabel(r"$a\,m$")
        axes.set_ylabel(r"$\mathrm{Tr}\,M^{-1}/V$")
        axes.margins(0.1)
        axes.legend(loc="best")
    return axes


@checked
def spectrum(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, label: str | None = None,
             width: str = "column") -> Axes:
    """Draws eigenvalues of -D^2 in ascending order, with their residuals as errors where the report has them.

    reports  of `staghorn eigen`, or an array of eigenvalues; or reports of solves, whose CG saw the ends of the spectrum of
             A = 4m^2 - D^2: then a bar from one end of -D^2 to the other for each

    Other arguments as of `pion`. Returns the axes. Raises Error.
    """
    with style():
        axes = ax if ax is not None else new_axes(width)
        if isinstance(reports, np.ndarray):
            _eigenvalues(axes, np.sort(reports.ravel()), None, label)
            return axes
        found = reports_of(reports, "spectrum", "eigenvalues", "spectrum")
        for report in found:
            if report.get("eigenvalues"):
                _eigenvalues(axes, np.asarray(report["eigenvalues"], np.float64), report.get("residuals"), label)
        ends = [report for report in found if not report.get("eigenvalues")]
        if ends:
            _ends(axes, ends)
    return axes


def _eigenvalues(axes: Axes, values: Any, residuals: Sequence[float] | None, label: str | None) -> None:
    k = _drawn(axes)
    errors = np.full(len(values), np.nan) if residuals is None or len(residuals) != len(values) else np.asarray(residuals)
    _points(axes, np.arange(len(values)), values, errors, k, label or f"{len(values)} eigenvalues")
    axes.set_xlabel("number")
    axes.set_ylabel(r"eigenvalue of $-D^2$")
    axes.legend(loc="best")


def _ends(axes: Axes, reports: list[dict[str, Any]]) -> None:
    for k, report in enumerate(reports):
        shift = 4.0 * min(report["masses"] if report.get("masses") else [report["mass"]]) ** 2
        low, high = (max(report["spectrum"][end] - shift, 1e-16) for end in ("smallest", "largest"))
        axes.plot([low, high], [k, k], "|-", color=color(0), markersize=8)
        axes.annotate(f"{low:.3g}", (low, k), xytext=(0, 5), textcoords="offset points", fontsize=6, ha="center")
        axes.annotate(f"{high:.3g}", (high, k), xytext=(0, 5), textcoords="offset points", fontsize=6, ha="center")
    axes.set_yticks(range(len(reports)), [f"m = {min(report['masses'] if report.get('masses') else [report['mass']]):g}" for report in reports])
    axes.set_xscale("log")
    axes.set_ylim(-0.6, len(reports) - 0.3)
    axes.margins(x=0.1)
    axes.set_xlabel(r"spectrum of $-D^2$ as CG saw its ends")


def _points(axes: Axes, x: Any, y: Any, errors: Any, k: int, label: str) -> None:
    bars = None if not np.isfinite(errors).any() else np.nan_to_num(errors)
    axes.errorbar(x, y, yerr=bars, fmt=MARKERS[k % len(MARKERS)], color=color(k), linewidth=0.8, label=label, markerfacecolor="white",
                  markeredgewidth=0.8)


def _drawn(axes: Axes) -> int:
    """How many sets of points are in the axes already."""
    return len(axes.containers)


def _samples(samples: Any) -> str:
    return f"{len(samples)} samples" if len(samples) > 1 else "one sample"


def _with_error(value: float, error: float) -> str:
    """0.5234(17): the error in units of the last two digits."""
    if not np.isfinite(error) or error <= 0:
        return f"{value:.4f}"
    digits = max(0, 1 - int(np.floor(np.log10(error))))
    return f"{value:.{digits}f}({round(error * 10**digits)})"
