"""Staghorn: solve the staggered Dirac equation of lattice QCD, with checked answers.

    links, info = staghorn.read_gauge("lat.sample")
    solution, report = staghorn.solve("lat.sample", mass=0.05, source="point:0,0,0,0")

Arrays: links U[T, Z, Y, X, mu, 3, 3], vectors v[T, Z, Y, X, 3], complex128; mu = 0, 1, 2, 3 = x, y, z, t.
`staghorn.reference` is the same operator in NumPy alone; `staghorn.plot` shows how a solve converged.
The compiled module is loaded at first use, so that the NumPy and plotting parts work without it.
"""

from importlib import import_module

_NATIVE = ("Error", "Session", "read_gauge", "solve", "version")

__all__ = [*_NATIVE, "plot_residuals", "residual_plot"]


def __getattr__(name: str):
    if name in _NATIVE:
        return getattr(import_module("staghorn.session"), name)
    if name in ("plot_residuals", "residual_plot"):
        return getattr(import_module("staghorn.plot"), name)
    raise AttributeError(f"module 'staghorn' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
