"""Which configurations and masses the reference data covers, and how its listings are compared."""

from __future__ import annotations

import numpy as np
from staghorn.reference import coordinates

CONFIGURATIONS = ["lat.sample.l8888", "lat.sample.l4448", "lat.sample.l4448.scidac", "lat.sample.l4444.ildg", "GF_555_6.1"]
MASSES = [0.1, 0.05, 0.01]
# Well below what a comparison at 1e-8 needs, and above what double precision reaches on the roughest configuration.
TOLERANCE = 1e-11


def formula_vector(extents) -> np.ndarray:
    """b_c(x) = cos(phi) + i sin(1.7 phi + 0.2), phi = 0.1 + 1.3 x + 0.7 y + 2.1 z + 0.4 t + 0.9 c."""
    x, y, z, t = (c[..., None] for c in coordinates(extents))
    phi = 0.1 + 1.3 * x + 0.7 * y + 2.1 * z + 0.4 * t + 0.9 * np.arange(3)
    return np.cos(phi) + 1j * np.sin(1.7 * phi + 0.2)


def components_differ_by(solution: np.ndarray, listed: list[dict]) -> float:
    """The largest difference at the listed sites, relative to the largest listed component."""
    found = np.array([solution[t, z, y, x] for x, y, z, t in (entry["site_xyzt"] for entry in listed)])
    expected = np.array([entry["color_re_im"] for entry in listed]) @ [1, 1j]
    return float(abs(found - expected).max() / abs(expected).max())
