"""Staghorn: solve the staggered Dirac equation of lattice QCD, with checked answers.

    context = staghorn.Context("lat.sample")                 # or staghorn.Context((8, 8, 8, 16), comm=MPI.COMM_WORLD)
    gauge = context.read("lat.sample")                       # or context.gauge(array)
    solution, report = gauge.solve(0.05, "point:0,0,0,0")    # or an array of NumPy, CuPy, PyTorch, JAX

    session = staghorn.Session("lat.sample")                 # a context and a gauge in one, for one process
    solution, report = session.solve(0.05, "point:0,0,0,0")

Arrays: links U[T, Z, Y, X, mu, 3, 3], vectors v[T, Z, Y, X, 3], complex; mu = 0, 1, 2, 3 = x, y, z, t.
`staghorn.reference` is the same operator in NumPy alone; `staghorn.plot` draws reports. Compiled modules are loaded at first
use, so that the NumPy and plotting parts work without them. No function of MPI is called but by a Context with `comm`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .campaigns import Campaign as Campaign
    from .campaigns import CampaignPart as CampaignPart
    from .campaigns import campaign as campaign
    from .certificates import certify as certify
    from .context import Context as Context
    from .errors import Error as Error
    from .files import example_gauge as example_gauge
    from .files import generate as generate
    from .files import read_vectors as read_vectors
    from .files import write_gauge as write_gauge
    from .files import write_vectors as write_vectors
    from .gauge import Gauge as Gauge
    from .gauge import GaugeInfo as GaugeInfo
    from .plot.page import html_report as html_report
    from .paths import file_name as file_name
    from .plot import plot_residuals as plot_residuals
    from .plot import residual_plot as residual_plot
    from .report import Report as Report
    from .session import Session as Session
    from .session import read_gauge as read_gauge
    from .session import solve as solve
    from .session import version as version
    from .smoothing import smear as smear
    from .smoothing import smooth as smooth

    __version__: str

# Name -> the module that has it.
_HOMES = {"Context": "context", "Gauge": "gauge", "GaugeInfo": "gauge", "Report": "report", "Error": "errors", "html_report": "plot.page", "file_name": "paths",
          "Campaign": "campaigns", "CampaignPart": "campaigns", "campaign": "campaigns", "certify": "certificates", "smear": "smoothing", "smooth": "smoothing",
          **dict.fromkeys(("Session", "read_gauge", "solve", "version"), "session"),
          **dict.fromkeys(("example_gauge", "generate", "read_vectors", "write_gauge", "write_vectors"), "files"),
          **dict.fromkeys(("plot_residuals", "residual_plot"), "plot")}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"staghorn.{_HOMES[name]}"), name)
    if name in ("plot", "reference"):
        return import_module(f"staghorn.{name}")
    if name == "__version__":
        return import_module("staghorn.session").version
    raise AttributeError(f"module 'staghorn' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "plot", "reference"])
