"""Gradient flow, smearing, gauge fixing and loops in NumPy, written from the equations (docs/smoothing.md).

As `staghorn.reference`, slow and independent of the fast code; the tests judge by it. Links are U[T, Z, Y, X, mu, 3, 3], complex128.
A path is a list of steps (mu, +1 or -1), and path_product the product of links along it.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from ..improved_reference import path_product, unitary_projection
from ..reference import adjoint, shifted


def algebra_part(m: np.ndarray) -> np.ndarray:
    """(M - M^dagger)/2 without its trace."""
    a = (m - adjoint(m)) / 2
    return a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)


def exponential(a: np.ndarray) -> np.ndarray:
    """exp of anti-Hermitian matrices, by eigenvalues."""
    values, vectors = np.linalg.eigh(-1j * a)
    return np.einsum("...ij,...j,...kj->...ik", vectors, np.exp(1j * values), vectors.conj())


def staple_paths(mu: int, directions: int = 4) -> list[list[tuple[int, int]]]:
    """The paths of three links from x to x+mu."""
    return [[(nu, s), (mu, +1), (nu, -s)] for nu in range(directions) if nu != mu for s in (+1, -1)]


def rectangle_paths(mu: int) -> list[list[tuple[int, int]]]:
    """The paths of five links from x to x+mu around the rectangles that have the link."""
    return [path for nu in range(4) if nu != mu for s in (+1, -1)
            for path in ([(nu, s), (nu, s), (mu, +1), (nu, -s), (nu, -s)], [(nu, s), (mu, +1), (mu, +1), (nu, -s), (mu, -1)],
                         [(mu, -1), (nu, s), (mu, +1), (mu, +1), (nu, -s)])]


def paths_sum(links: np.ndarray, paths: list[list[tuple[int, int]]]) -> np.ndarray:
    return sum(path_product(links, path) for path in paths)


def force(links: np.ndarray, action: str = "wilson", directions: int = 4) -> np.ndarray:
    """Z of dU/dt = Z U, zero for links that do not flow."""
    z = np.zeros_like(links)
    for mu in range(directions):
        paths = paths_sum(links, staple_paths(mu, directions))
        if action == "symanzik":
            paths = 5 / 3 * paths - 1 / 12 * paths_sum(links, rectangle_paths(mu))
        z[..., mu, :, :] = -algebra_part(links[..., mu, :, :] @ adjoint(paths))
    return z


def flow_step(links: np.ndarray, step: float, action: str = "wilson") -> np.ndarray:
    """One step of Luescher's third-order Runge-Kutta method [arXiv:1006.4518, appendix C]."""
    z0 = step * force(links, action)
    links = exponential(z0 / 4) @ links
    z1 = step * force(links, action)
    links = exponential(8 / 9 * z1 - 17 / 36 * z0) @ links
    z2 = step * force(links, action)
    return exponential(3 / 4 * z2 - 8 / 9 * z1 + 17 / 36 * z0) @ links


def stout(links: np.ndarray, rho: float, directions: int = 4) -> np.ndarray:
    """U = exp(i Q) U [hep-lat/0311018, eqs. 1 to 3]."""
    result = links.copy()
    for mu in range(directions):
        u = links[..., mu, :, :]
        omega = rho * paths_sum(links, staple_paths(mu, directions)) @ adjoint(u)
        q = 0.5j * (adjoint(omega) - omega)
        q = q - np.trace(q, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
        result[..., mu, :, :] = exponential(1j * q) @ u
    return result


def ape(links: np.ndarray, alpha: float, directions: int = 4) -> np.ndarray:
    result = links.copy()
    for mu in range(directions):
        paths = staple_paths(mu, directions)
        result[..., mu, :, :] = unitary_projection((1 - alpha) * links[..., mu, :, :] + alpha / len(paths) * paths_sum(links, paths), su3=True)
    return result


def hyp(links: np.ndarray, alpha1: float, alpha2: float, alpha3: float) -> np.ndarray:
    """The three levels of hep-lat/0103029, eqs. 2 to 4, with the link variables of its text as keys (mu, excluded directions)."""
    def blended(mu, alpha, staples):
        return unitary_projection((1 - alpha) * links[..., mu, :, :] + alpha / (2 * len(staples)) * sum(staples), su3=True)

    def staple(side, top, mu, nu):
        """Both staples in nu of a link in mu."""
        ahead = side @ shifted(top, nu, +1) @ adjoint(shifted(side, mu, +1))
        return ahead + shifted(adjoint(side) @ top @ shifted(side, mu, +1), nu, -1)

    u = [links[..., mu, :, :] for mu in range(4)]
    bar = {(mu, frozenset((nu, rho))): blended(mu, alpha3, [staple(u[eta], u[mu], mu, eta) for eta in range(4) if eta not in (mu, nu, rho)])
           for mu, nu, rho in permutations(range(4), 3)}
    tilde = {(mu, nu): blended(mu, alpha2, [staple(bar[rho, frozenset((nu, mu))], bar[mu, frozenset((rho, nu))], mu, rho)
                                            for rho in range(4) if rho not in (mu, nu)])
             for mu, nu in permutations(range(4), 2)}
    return np.stack([blended(mu, alpha1, [staple(tilde[nu, mu], tilde[mu, nu], mu, nu) for nu in range(4) if nu != mu]) for mu in range(4)], axis=4)


def field_strength(links: np.ndarray, mu: int, nu: int) -> np.ndarray:
    """F_munu of the clover, anti-Hermitian and traceless."""
    leaves = [[(mu, +1), (nu, +1), (mu, -1), (nu, -1)], [(nu, +1), (mu, -1), (nu, -1), (mu, +1)],
              [(mu, -1), (nu, -1), (mu, +1), (nu, +1)], [(nu, -1), (mu, +1), (nu, +1), (mu, -1)]]
    return algebra_part(paths_sum(links, leaves)) / 4


def energies_and_charge(links: np.ndarray) -> tuple[float, float, float]:
    """E of the planes in space, E of those with time, and Q."""
    f = {(mu, nu): field_strength(links, mu, nu) for nu in range(4) for mu in range(nu)}

    def product(a, b):
        return -np.sum(np.einsum("...ij,...ji->...", f[a], f[b]).real)

    volume = np.prod(links.shape[:4])
    space = sum(product(plane, plane) for plane in f if plane[1] < 3) / volume
    time = sum(product(plane, plane) for plane in f if plane[1] == 3) / volume
    charge = (product((0, 1), (2, 3)) - product((0, 2), (1, 3)) + product((1, 2), (0, 3))) / (4 * np.pi**2)
    return space, time, charge


def polyakov_loop(links: np.ndarray) -> complex:
    product = links[0, ..., 3, :, :]
    for t in range(1, links.shape[0]):
        product = product @ links[t, ..., 3, :, :]
    return np.mean(np.trace(product, axis1=-2, axis2=-1)) / 3


def wilson_loop(links: np.ndarray, distance: int, time: int) -> float:
    """Mean of Re tr W / 3 over sites and directions in space."""
    loops = [path_product(links, [(i, +1)] * distance + [(3, +1)] * time + [(i, -1)] * distance + [(3, -1)] * time) for i in range(3)]
    return np.mean([np.trace(loop, axis1=-2, axis2=-1).real for loop in loops]) / 3


def functional_and_theta(links: np.ndarray, directions: int) -> tuple[float, float]:
    """Of Coulomb (3 directions) or Landau gauge (4)."""
    functional = np.mean(np.trace(links[..., :directions, :, :], axis1=-2, axis2=-1).real) / 3
    potential = algebra_part(links) / 1j
    delta = sum(potential[..., mu, :, :] - shifted(potential[..., mu, :, :], mu, -1) for mu in range(directions))
    return functional, np.mean(np.trace(delta @ delta, axis1=-2, axis2=-1).real) / 3
