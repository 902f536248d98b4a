"""Improved staggered quarks in NumPy: links by explicit sums over paths, and the operator with steps of one and three.

As `staghorn.reference`, slow and written from the equations; the tests judge the fast code by it. In the notation of
dirac/gauge/improved_links.hpp:

    D a(x) = sum_mu eta_mu(x) [ F_mu(x) a(x+mu) - F_mu(x-mu)^dagger a(x-mu) + N_mu(x) a(x+3mu) - N_mu(x-3mu)^dagger a(x-3mu) ]

    asqtad   F, N from U                                    [Orginos, Toussaint & Sugar, Phys. Rev. D 60 (1999) 054503]
    HISQ     V = Fat7(U), W = V (V^dagger V)^(-1/2), F, N from W    [Follana et al., Phys. Rev. D 75 (2007) 054502]

Here N has its coefficient in. Links are U[T, Z, Y, X, mu, 3, 3] without phases or boundary signs, complex128.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from staghorn.reference import StaggeredOperator, shifted, staggered_phases, unit_phase

# Weights of one link, the sums over 3-, 5- and 7-link staples, and Lepage's path.
FAT7 = (1 / 8, 1 / 16, 1 / 64, 1 / 384, 0.0)


def hisq_weights(epsilon: float = 0.0) -> tuple[float, ...]:
    """Of the second level of HISQ, whose Naik weight is -(1 + epsilon) / 24."""
    return (1 + epsilon / 8, 1 / 16, 1 / 64, 1 / 384, -1 / 8)


def asqtad_weights(u0: float = 1.0) -> tuple[float, ...]:
    """Of asqtad with the tadpole factor u0, whose Naik weight is -1 / (24 u0^2)."""
    return (5 / 8, 1 / (16 * u0**2), 1 / (64 * u0**4), 1 / (384 * u0**6), -1 / (16 * u0**4))


def path_product(links: np.ndarray, path: list[tuple[int, int]]) -> np.ndarray:
    """The product of links along a path of steps (mu, +1 or -1) that starts at x, shape [T, Z, Y, X, 3, 3]."""
    result = np.broadcast_to(np.eye(3, dtype=complex), links.shape[:4] + (3, 3))
    for mu, direction in reversed(path):  # from the end of the path: a step moves the start of what is there already
        if direction > 0:
            result = links[..., mu, :, :] @ shifted(result, mu, +1)
        else:
            back = np.conj(np.swapaxes(links[..., mu, :, :], -1, -2)) @ result
            result = shifted(back, mu, -1)
    return result


def paths_around(mu: int) -> list[list[list[tuple[int, int]]]]:
    """The paths from x to x+mu, by kind: one link, 3, 5 and 7 links, and Lepage's straight five links."""
    others = [nu for nu in range(4) if nu != mu]

    def staples(count):
        return [[*zip(nus, signs), (mu, +1), *zip(reversed(nus), (-s for s in reversed(signs)))]
                for nus in permutations(others, count) for signs in product((+1, -1), repeat=count)]

    straight = [[(nu, s), (nu, s), (mu, +1), (nu, -s), (nu, -s)] for nu in others for s in (+1, -1)]
    return [[[(mu, +1)]], staples(1), staples(2), staples(3), straight]


def smeared_links(links: np.ndarray, weights: tuple[float, ...]) -> np.ndarray:
    """The weighted sum over paths of each link."""
    result = np.zeros_like(links)
    for mu in range(4):
        for weight, paths in zip(weights, paths_around(mu)):
            if weight:
                result[..., mu, :, :] += weight * sum(path_product(links, path) for path in paths)
    return result


def naik_products(links: np.ndarray) -> np.ndarray:
    """U_mu(x) U_mu(x+mu) U_mu(x+2mu)."""
    return np.stack([path_product(links, [(mu, +1)] * 3) for mu in range(4)], axis=4)


def unitary_projection(links: np.ndarray, su3: bool = False) -> np.ndarray:
    """The nearest unitary matrices V (V^dagger V)^(-1/2); with `su3` divided by the root of their determinants."""
    u, _, v = np.linalg.svd(links)
    w = u @ v
    if su3:
        w = w / (np.exp(1j * np.angle(np.linalg.det(w)) / 3))[..., None, None]
    return w


def asqtad_links(links: np.ndarray, u0: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """(F, N) of asqtad."""
    return smeared_links(links, asqtad_weights(u0)), -naik_products(links) / (24 * u0**2)


def hisq_links(links: np.ndarray, epsilon: float = 0.0, su3: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(F, N) of HISQ."""
    w = unitary_projection(smeared_links(links, FAT7), su3)
    return smeared_links(w, hisq_weights(epsilon)), -(1 + epsilon) / 24 * naik_products(w)


class ImprovedOperator(StaggeredOperator):
    """D with fat and Naik links, M and A; N has its coefficient in. Arguments otherwise as for StaggeredOperator."""

    def __init__(self, fat: np.ndarray, naik: np.ndarray, boundary=(0, 0, 0, 1), phases: str = "cps"):
        super().__init__(fat, boundary, phases)
        self.naik = np.array(naik, dtype=complex)  # with phases and boundary in them
        self.naik *= staggered_phases(self.extents, phases)[..., None, None]
        for mu, theta in enumerate(boundary):
            last_three = [slice(None)] * 4
            last_three[3 - mu] = slice(-3, None)
            self.naik[(*last_three, mu)] *= unit_phase(theta)

    def d(self, v: np.ndarray) -> np.ndarray:
        """D v."""
        out = super().d(v)
        for mu in range(4):
            n = self.naik[..., mu, :, :]
            out += np.einsum("...ij,...j->...i", n, shifted(v, mu, +3))
            out -= shifted(np.einsum("...ji,...j->...i", n.conj(), v), mu, -3)
        return out
