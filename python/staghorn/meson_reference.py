"""Spin-taste operators and mesons of staggered quarks in NumPy, written from the equations.

As `staghorn.reference`, slow and independent of the fast code; the tests judge by it. For spin S and taste T, sets of directions,

    O f = eps  Z_A  prod_{mu in S} zeta_mu  f,      A = S xor T,      zeta_mu(x) = eps(x) (-1)^(x_mu),      eps(x) = (-1)^(x+y+z+t),

where x is counted from the source, and Z_A averages the products of covariant symmetric shifts over the orders of the directions of A
with the sign of the order [Golterman & Smit 1984; Golterman 1986]. Names and signs are those of MILC.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np

from staghorn.reference import StaggeredOperator, coordinates, extents_of, shifted

X, Y, Z, T = 1, 2, 4, 8
GAMMAS = {"1": 0, "X": X, "Y": Y, "Z": Z, "T": T, "5": 15, "XY": X | Y, "ZX": Z | X, "YZ": Y | Z, "XT": X | T, "YT": Y | T, "ZT": Z | T,
          "5X": 15 ^ X, "5Y": 15 ^ Y, "5Z": 15 ^ Z, "5T": 15 ^ T}
# Older names of MILC: sign, spin, taste.
OLD_NAMES = {"pion5": (1, 15, 15), "pion05": (1, 0, 0), "pioni5": (-1, 15, 15 ^ Z), "pionij": (1, 0, Z), "pioni": (1, 0, X | Y),
             "pioni0": (1, T, 15 ^ Z), "pions": (1, 0, 15 ^ T), "pion0": (-1, T, 15), "rho0": (-1, Z | T, T),
             "rhox": (1, X, X), "rhoy": (1, Y, Y), "rhoz": (1, Z, Z), "rhoi": (1, Z, Z),
             "rhox0": (1, X | T, X | T), "rhoy0": (1, Y | T, Y | T), "rhoz0": (1, Z | T, Z | T), "rhoi0": (1, Z | T, Z | T),
             "rhoxs": (1, X, 0), "rhoys": (1, Y, 0), "rhozs": (1, Z, 0), "rhois": (1, Z, 0)}
# The orders of shifts that count +, first shift first.
ORDERS = ["", "x", "y", "yx", "z", "xz", "zy", "xyz", "t", "tx", "ty", "xyt", "tz", "xzt", "yzt", "xyzt"]


def spin_taste(name: str) -> tuple[int, int, int]:
    """(sign, S, T) of a name such as "rhox" or "G5-G5X"."""
    if name in OLD_NAMES:
        return OLD_NAMES[name]
    spin, taste = name.split("-")
    return 1, GAMMAS[spin[1:]], GAMMAS[taste[1:]]


class SpinTasteOperators:
    """Operators on vectors v[T, Z, Y, X, 3] that shift with thin `links`; `origin` is the place of the source."""

    def __init__(self, links: np.ndarray, boundary=(0, 0, 0, 1), phases: str = "cps", origin=(0, 0, 0, 0)):
        self.links = StaggeredOperator(links, boundary, phases).links  # with phases and boundary in them
        x = [x_mu - r_mu for x_mu, r_mu in zip(coordinates(extents_of(links)), origin)]
        self.eps = ((-1.0) ** sum(x))[..., None]
        self.zeta = [self.eps * ((-1.0) ** x_mu)[..., None] for x_mu in x]

    def shift(self, mu: int, v: np.ndarray) -> np.ndarray:
        """zeta_mu(x) (1/2) [eta_mu(x) U_mu(x) v(x+mu) + (eta_mu(x-mu) U_mu(x-mu))^dagger v(x-mu)]."""
        u = self.links[..., mu, :, :]
        ahead = np.einsum("...ij,...j->...i", u, shifted(v, mu, +1))
        behind = shifted(np.einsum("...ji,...j->...i", u.conj(), v), mu, -1)
        return self.zeta[mu] * (ahead + behind) / 2

    def shifts(self, directions: int, v: np.ndarray) -> np.ndarray:
        """Z_A v."""
        first = ["xyzt".index(letter) for letter in ORDERS[directions]]
        out = np.zeros_like(v)
        for places in permutations(range(len(first))):
            inversions = sum(a > b for i, a in enumerate(places) for b in places[i + 1:])
            term = v
            for place in places:
                term = self.shift(first[place], term)
            out += (-1) ** inversions * term
        return out / factorial(len(first))

    def apply(self, name: str, v: np.ndarray) -> np.ndarray:
        """O v, with the sign of the name."""
        sign, spin, taste = spin_taste(name)
        for mu in range(4):
            if spin >> mu & 1:
                v = self.zeta[mu] * v
        return sign * self.eps * self.shifts(spin ^ taste, v)


def momentum_weight(extents, momentum, symmetry: str, origin=(0, 0, 0, 0)) -> np.ndarray:
    """prod_i of cos(k_i x_i) for E, i sin(k_i x_i) for O, exp(i k_i x_i) for EO, k_i = 2 pi p_i / n_i. `symmetry`: "E E EO"."""
    weight = np.ones(extents[::-1], dtype=complex)
    for mu, letter in enumerate(symmetry.split()):
        angle = 2 * np.pi * momentum[mu] * (coordinates(extents)[mu] - origin[mu]) / extents[mu]
        weight = weight * {"E": np.cos(angle), "O": 1j * np.sin(angle), "EO": np.exp(1j * angle)}[letter]
    return weight


def meson(operated, quark, weight=1.0) -> np.ndarray:
    """C(t) = sum_x w(x) sum_c [O G1_c(x)]^dagger G2_c(x); `operated` has O G1_c, `quark` G2_c, each one vector a colour."""
    density = sum((o.conj() * q).sum(axis=-1) for o, q in zip(operated, quark))
    return (weight * density).sum(axis=(1, 2, 3))
