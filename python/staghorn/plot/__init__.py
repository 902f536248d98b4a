"""Pictures of reports, fit for a paper: each function takes a Report, a Campaign, a dict or the path of a JSON file, or several of them,
draws into `ax` or into a figure of its own, and returns the axes. `save` writes PNG, PDF or SVG.

    from staghorn import plot
    plot.save(plot.residuals(report), "residuals.pdf")
    plot.save(plot.times([fp64, mixed], labels=["fp64", "fp64/fp16"]), "times.svg")

    python -m staghorn.plot report.json --png residuals.png
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..paths import PathLike
from .convergence import residuals, times
from .figures import new_axes, save, style
from .rates import roofline, scaling
from .reports import ReportLike
from .terminal import residual_plot

if TYPE_CHECKING:
    from .observables import condensate, correlators_of, effective_masses, pion, spectrum, squared_masses

__all__ = ["condensate", "correlators_of", "effective_masses", "new_axes", "pion", "plot_residuals", "residual_plot", "residuals",
           "roofline", "save", "scaling", "spectrum", "squared_masses", "style", "times"]


def __getattr__(name: str) -> Any:
    # These need NumPy; a plot in the terminal does not.
    if name in ("condensate", "correlators_of", "effective_masses", "pion", "spectrum", "squared_masses"):
        return getattr(import_module("staghorn.plot.observables"), name)
    raise AttributeError(f"module 'staghorn.plot' has no attribute '{name}'")


@checked
def plot_residuals(report: ReportLike, path: PathLike) -> None:
    """Writes the residual histories to `path`, as its name ends. Needs matplotlib, no display."""
    save(residuals(report), path)
