"""What solves measure: correlators, effective masses, masses over the quark mass, the condensate, eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ..analysis import Mass, effective_mass, jackknife
from ..arguments import checked
from ..errors import Error
from .figures import MARKERS, color, new_axes, style, styled
from .reports import Reports, reports_of, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Masses = Union[Mass, Sequence[Mass]]


@checked
def correlators_of(reports: Reports | np.ndarray[Any, Any]) -> Numbers:
    """Correlators of the pion, [sample, t], from reports of one mass and source, or from such an array. Raises Error."""
    named = _correlators(reports, None, "pion")
    if len(named) > 1:
        raise Error(f"pion: expected correlators of one mass and source, found {', '.join(named)}", "argument")
    return next(iter(named.values()))


@checked
def pion(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, mass: Mass | Sequence[Mass] | None = None,
         label: str | None = None, width: str = "column", figsize: tuple[float, float] | None = None) -> Axes:
    """Draws C(t) = sum_x |G(x, t)|^2, the mean of the samples with jackknife errors; with `mass` also its cosh on the plateau.

    reports  Report, dict, path, Campaign, or several of them; or an array [sample, t]. Each mass and source is drawn for itself, with
             the reports that share both as its samples, one configuration each
    ax       axes to draw into: several ensembles may share them
    mass     of each curve, in their order; one of one curve
    label    of this ensemble
    figsize  width and height in inches, in place of `width` "column" or "page"

    Returns the axes. Raises Error.
    """
    curves = _correlators(reports, label, "pion")
    masses = _one_each(mass, len(curves))
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * len(curves), figsize=figsize)
        for (name, samples), one in zip(curves.items(), masses):
            estimate, k = jackknife(samples), _drawn(axes)
            _points(axes, np.arange(samples.shape[1]), estimate.value, estimate.error, k, _with_mass(name, one))
            if one is not None:
                half, t = samples.shape[1] / 2, np.linspace(one.first, samples.shape[1] - one.first, 200)
                middle = np.arange(one.first, one.last + 1)
                scale = np.exp(np.mean(np.log(estimate.value[middle] / np.cosh(one.value * (half - middle)))))
                axes.plot(t, scale * np.cosh(one.value * (half - t)), color=color(k), linewidth=0.8)
        axes.set_yscale("log")
        styled(axes, r"$t/a$", r"$C_\pi(t)$")
    return axes


@checked
def effective_masses(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, mass: Mass | Sequence[Mass] | None = None,
                     label: str | None = None, width: str = "column", figsize: tuple[float, float] | None = None) -> Axes:
    """Draws a m_eff(t), cosh m_eff = (C(t-1) + C(t+1)) / (2 C(t)) of the folded mean, with jackknife errors; with `mass` its
    plateau and error. Arguments as of `pion`. Returns the axes. Raises Error."""
    curves = _correlators(reports, label, "effective_masses")
    masses = _one_each(mass, len(curves))
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * len(curves), figsize=figsize)
        for (name, samples), one in zip(curves.items(), masses):
            estimate, k = jackknife(samples, effective_mass), _drawn(axes)
            _points(axes, np.arange(1, samples.shape[1] // 2), estimate.value, estimate.error, k, _with_mass(name, one))
            if one is not None:
                across = [one.first - 0.3, one.last + 0.3]
                axes.plot(across, [one.value] * 2, color=color(k), linewidth=0.8)
                if np.isfinite(one.error):
                    axes.fill_between(across, one.value - one.error, one.value + one.error, color=color(k), alpha=0.25, linewidth=0)
        axes.set_xlim(0, max(samples.shape[1] for samples in curves.values()) / 2)
        styled(axes, r"$t/a$", r"$a\,m_{\mathrm{eff}}(t)$")
    return axes


@checked
def squared_masses(quark_masses: Sequence[float], masses: Mapping[str, Sequence[Mass]], *, ax: Axes | None = None, lines: bool = True,
                   width: str = "column", figsize: tuple[float, float] | None = None) -> Axes:
    """Draws (a M)^2 over a m, with errors: a pion is on a straight line through zero, and tastes differ by constants.

    quark_masses  a m of each point; of a kaon the mean of both
    masses        label -> a Mass for each of them, as of meson_mass or pion_mass
    lines         whether a straight line by least squares of each is drawn, to m = 0

    Other arguments as of `pion`. Returns the axes. Raises Error.
    """
    x = np.asarray(quark_masses, dtype=np.float64)
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * len(masses), figsize=figsize)
        for name, of_name in masses.items():
            if not isinstance(of_name, Sequence) or len(of_name) != len(x) or not all(isinstance(one, Mass) for one in of_name):
                raise Error(f"masses: expected a list of {len(x)} of {name}, a Mass for each quark mass, found {of_name!r}", "argument")
            values = np.array([one.value**2 for one in of_name])
            errors = np.array([2 * one.value * one.error for one in of_name])
            k = _drawn(axes)
            _points(axes, x, values, errors, k, name)
            if lines and len(x) > 1:
                weights = 1 / errors if np.all(errors > 0) else np.ones_like(x)
                fitted = np.polyfit(x, values, 1, w=weights)
                across = np.array([0.0, 1.05 * x.max()])
                axes.plot(across, np.polyval(fitted, across), color=color(k), linewidth=0.8)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        styled(axes, r"$a\,m$", r"$(a\,M)^2$", columns=2)
    return axes


@checked
def condensate(reports: Reports, *, ax: Axes | None = None, label: str | None = None, width: str = "column",
               figsize: tuple[float, float] | None = None) -> Axes:
    """Draws Tr M^-1 / V of noise sources over the mass, from reports of one mass or several, or a campaign. Errors are those of the
    noise vectors of one configuration, and with several configurations of their means (jackknife). Arguments as of `pion`. Returns
    the axes. Raises Error."""
    series = series_of(reports, "condensate", "condensate")
    by_source: dict[str, list[tuple[float, float, float]]] = {}
    samples = max(map(len, series.values()))
    for (mass, source), found in series.items():
        alone = found[0]["error"] if found[0]["n_vectors"] > 1 else np.nan
        estimate = jackknife([one["value"] for one in found])
        by_source.setdefault(source, []).append((mass, float(estimate.value), float(estimate.error) if len(found) > 1 else alone))
    vectors = sorted({one["n_vectors"] for found in series.values() for one in found})
    counted = f"{vectors[0]}" + (f" to {vectors[-1]}" if len(vectors) > 1 else "") + f" noise vector{'s' * (vectors[-1] > 1)}"
    counted += f", {samples} configurations" if samples > 1 else ""
    with style():
        axes = ax if ax is not None else new_axes(width, 2.45 + 0.14 * len(by_source), figsize=figsize)
        for source, points in by_source.items():
            masses, values, errors = map(np.array, zip(*sorted(points)))
            name = label or (f"{source}: {counted}" if len(by_source) > 1 else counted)
            _points(axes, masses, values, errors, _drawn(axes), name)
        axes.margins(0.1)
        styled(axes, r"$a\,m$", r"$\mathrm{Tr}\,M^{-1}/V$")
    return axes


@checked
def spectrum(reports: Reports | np.ndarray[Any, Any], *, ax: Axes | None = None, label: str | None = None, width: str = "column",
             figsize: tuple[float, float] | None = None) -> Axes:
    """Draws eigenvalues of -D^2 in ascending order on a logarithmic axis, with their residuals as errors where the report has them.

    reports  of `staghorn eigen`, or an array of eigenvalues; or reports of solves, whose CG saw the ends of the spectrum of
             A = 4m^2 - D^2: then a bar from one end of -D^2 to the other for each

    Other arguments as of `pion`. Returns the axes. Raises Error.
    """
    with style():
        axes = ax if ax is not None else new_axes(width, 2.6, figsize=figsize)
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
    errors = np.full(len(values), np.nan) if residuals is None or len(residuals) != len(values) else np.asarray(residuals)
    _points(axes, np.arange(len(values)), values, errors, _drawn(axes), label or f"{len(values)} eigenvalues")
    if np.all(values > 0):
        axes.set_yscale("log")
    styled(axes, "number", r"eigenvalue of $-D^2$")


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
    styled(axes, r"spectrum of $-D^2$ as CG saw its ends", "")


def _correlators(reports: Any, label: str | None, name: str) -> dict[str, Numbers]:
    """label -> correlators[sample, t], of each mass and source."""
    if isinstance(reports, np.ndarray):
        samples = np.atleast_2d(np.real(reports).astype(np.float64))
        return {label or _samples(samples): samples}
    series = series_of(reports, name, "pion_correlator")
    found = {}
    for told, curves in zip(series.labels, series.values()):
        lengths = {len(curve) for curve in curves}
        if len(lengths) > 1:
            raise Error(f"pion: expected correlators of one length, found {sorted(lengths)}", "argument")
        samples = np.array(curves, dtype=np.float64)
        found[", ".join(filter(None, (label, told))) or _samples(samples)] = samples
    return found


def _one_each(mass: Masses | None, n: int) -> list[Mass | None]:
    masses: list[Mass | None] = [mass] if isinstance(mass, Mass) else [None] * n if mass is None else list(mass)
    if len(masses) != n:
        raise Error(f"mass: expected {n}, one for each curve, found {len(masses)}", "argument")
    return masses


def _with_mass(label: str, mass: Mass | None) -> str:
    return label if mass is None else rf"{label}: $aM$ = {_with_error(mass.value, mass.error)}"


def _points(axes: Axes, x: Any, y: Any, errors: Any, k: int, label: str) -> None:
    bars = None if not np.isfinite(errors).any() else np.nan_to_num(errors)
    axes.errorbar(x, y, yerr=bars, fmt=MARKERS[k % len(MARKERS)], color=color(k), linewidth=0.8, label=label, markerfacecolor="white",
                  markeredgewidth=0.8)


def _drawn(axes: Axes) -> int:
    """How many sets of points are in the axes already."""
    return len(axes.containers)


def _samples(samples: Any) -> str:
    return f"{len(samples)} configurations" if len(samples) > 1 else "one configuration"


def _with_error(value: float, error: float) -> str:
    """0.5234(17): the error in units of the last two digits."""
    if not np.isfinite(error) or error <= 0:
        return f"{value:.4f}"
    digits = max(0, 1 - int(np.floor(np.log10(error))))
    return f"{value:.{digits}f}({round(error * 10**digits)})"
