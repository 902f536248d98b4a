"""The staggered operator and its solver in NumPy: slow, transparent, written from the equations.

The tests judge the fast code by this module, so it shares nothing with it: it needs NumPy only.

    D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]      (no factor 1/2)
    M = 2 m + D            the full operator
    A = 4 m^2 - D^2        the positive operator on the sites of one parity

Arrays: links U[T, Z, Y, X, mu, 3, 3], vectors v[T, Z, Y, X, 3], complex128; mu = 0, 1, 2, 3 = x, y, z, t.
Extents are (X, Y, Z, T); parity is (x + y + z + t) mod 2, even = 0.
"""

from __future__ import annotations

import numpy as np

PERIODIC, ANTIPERIODIC = 0.0, 1.0


# --- geometry ---------------------------------------------------------------------------------------------------


def extents_of(field: np.ndarray) -> tuple[int, int, int, int]:
    """(X, Y, Z, T) of a field whose first four axes are T, Z, Y, X."""
    nt, nz, ny, nx = field.shape[:4]
    return nx, ny, nz, nt


def coordinates(extents) -> tuple[np.ndarray, ...]:
    """Four integer arrays x, y, z, t, each of shape [T, Z, Y, X]."""
    nx, ny, nz, nt = extents
    t, z, y, x = np.meshgrid(np.arange(nt), np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    return x, y, z, t


def parity(extents) -> np.ndarray:
    """(x + y + z + t) mod 2, shape [T, Z, Y, X]."""
    return sum(coordinates(extents)) % 2


def keep_parity(v: np.ndarray, which: int) -> np.ndarray:
    """The vector with the sites of the other parity set to zero."""
    return np.where((parity(extents_of(v)) == which)[..., None], v, 0)


def shifted(field: np.ndarray, mu: int, direction: int) -> np.ndarray:
    """result(x) = field(x + direction * mu), periodic; `direction` may count several steps."""
    return np.roll(field, -direction, axis=3 - mu)


# --- phases -----------------------------------------------------------------------------------------------------


def staggered_phases(extents, convention: str = "cps") -> np.ndarray:
    """eta_mu(x) = +-1, shape [T, Z, Y, X, 4].

    cps:  1, (-1)^x, (-1)^(x+y), (-1)^(x+y+z) for x, y, z, t      milc: (-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1
    """
    x, y, z, t = coordinates(extents)
    exponents = {"cps": (0 * x, x, x + y, x + y + z), "milc": (t, t + x, t + x + y, 0 * x)}[convention]
    return np.stack([(-1.0) ** e for e in exponents], axis=-1)


def milc_sign(extents) -> np.ndarray:
    """S(x) = (-1)^(t (x + y + z)): the MILC solution of source b is S x(S b), x in CPS phases. Shape [T, Z, Y, X, 1]."""
    x, y, z, t = coordinates(extents)
    return ((-1.0) ** (t * (x + y + z)))[..., None]


def unit_phase(theta: float) -> complex:
    """exp(i pi theta), exactly +-1 for integer theta."""
    return complex((-1.0) ** int(theta)) if theta == int(theta) else np.exp(1j * np.pi * theta)


# --- operator ---------------------------------------------------------------------------------------------------


class StaggeredOperator:
    """D, M and A on one gauge configuration.

    `boundary`: theta_mu; a field picks up exp(i pi theta_mu) when carried across the boundary in direction +mu.
    """

    def __init__(self, links: np.ndarray, boundary=(0, 0, 0, 1), phases: str = "cps"):
        self.extents = extents_of(links)
        self.links = np.array(links, dtype=complex)  # with phases and boundary in them
        self.links *= staggered_phases(self.extents, phases)[..., None, None]
        for mu, theta in enumerate(boundary):
            last = [slice(None)] * 4
            last[3 - mu] = -1
            self.links[(*last, mu)] *= unit_phase(theta)

    def d(self, v: np.ndarray) -> np.ndarray:
        """D v, in the precision of v where that is more than double."""
        out = np.zeros_like(v, dtype=np.result_type(v, complex))
        for mu in range(4):
            u = self.links[..., mu, :, :]
            out += np.einsum("...ij,...j->...i", u, shifted(v, mu, +1))
            out -= shifted(np.einsum("...ji,...j->...i", u.conj(), v), mu, -1)
        return out

    def m(self, mass: float, v: np.ndarray) -> np.ndarray:
        """M v = 2 m v + D v."""
        return 2 * mass * v + self.d(v)

    def a(self, mass: float, v: np.ndarray) -> np.ndarray:
        """A v = 4 m^2 v - D D v; leaves the parity of v alone."""
        return 4 * mass**2 * v - self.d(self.d(v))

    def solve_parity(self, mass: float, b: np.ndarray, tolerance: float = 1e-12):
        """x with A x = b, and the number of iterations; b lives on one parity."""
        return conjugate_gradient(lambda v: self.a(mass, v), b, tolerance)

    def solve(self, mass: float, b: np.ndarray, tolerance: float = 1e-12):
        """x with M x = b, and the number of iterations: A x_e = 2m b_e - D_eo b_o, then x_o = (b_o - D_oe x_e) / 2m."""
        b_even, b_odd = keep_parity(b, 0), keep_parity(b, 1)
        x_even, iterations = self.solve_parity(mass, 2 * mass * b_even - self.d(b_odd), tolerance)
        return x_even + (b_odd - self.d(x_even)) / (2 * mass), iterations


def conjugate_gradient(apply, b: np.ndarray, tolerance: float, max_iterations: int = 20000):
    """x with apply(x) = b to |r| <= tolerance |b|, and the number of iterations [Hestenes & Stiefel 1952]."""
    x = np.zeros_like(b, dtype=complex)
    r = b.astype(complex)
    p = r.copy()
    rr = norm2(r)
    target = tolerance**2 * rr
    iterations = 0
    while rr > target and iterations < max_iterations:
        q = apply(p)
        alpha = rr / np.vdot(p, q).real
        x += alpha * p
        r -= alpha * q
        rr, previous = norm2(r), rr
        p = r + (rr / previous) * p
        iterations += 1
    return x, iterations


def norm2(v: np.ndarray) -> float:
    return float(np.vdot(v, v).real)


# --- gauge fields and what they are judged by -------------------------------------------------------------------


def free_links(extents) -> np.ndarray:
    nx, ny, nz, nt = extents
    return np.broadcast_to(np.eye(3, dtype=complex), (nt, nz, ny, nx, 4, 3, 3)).copy()


def random_su3(generator: np.random.Generator, shape) -> np.ndarray:
    """Haar-distributed SU(3) matrices of shape (*shape, 3, 3): QR of a Gaussian matrix, phases fixed, det 1."""
    gaussian = generator.normal(size=(*shape, 3, 3)) + 1j * generator.normal(size=(*shape, 3, 3))
    q, r = np.linalg.qr(gaussian)
    diagonal = np.einsum("...ii->...i", r)
    q = q * (diagonal / abs(diagonal))[..., None, :]
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


def random_links(extents, seed: int) -> np.ndarray:
    nx, ny, nz, nt = extents
    return random_su3(np.random.default_rng(seed), (nt, nz, ny, nx, 4))


def random_vector(extents, seed: int) -> np.ndarray:
    nx, ny, nz, nt = extents
    generator = np.random.default_rng(seed)
    return generator.normal(size=(nt, nz, ny, nx, 3)) + 1j * generator.normal(size=(nt, nz, ny, nx, 3))


def gauge_transform_links(links: np.ndarray, g: np.ndarray) -> np.ndarray:
    """g(x) U_mu(x) g(x+mu)^dagger; g[T, Z, Y, X, 3, 3]."""
    out = np.empty_like(links)
    for mu in range(4):
        out[..., mu, :, :] = g @ links[..., mu, :, :] @ adjoint(shifted(g, mu, +1))
    return out


def gauge_transform_vector(v: np.ndarray, g: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", g, v)


def adjoint(matrices: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrices.conj(), -1, -2)


def plaquettes(links: np.ndarray) -> dict[str, float]:
    """Mean Re tr U_P / 3 over all, space-space and space-time plaquettes."""
    means = {}
    for mu in range(4):
        for nu in range(mu + 1, 4):
            u, v = links[..., mu, :, :], links[..., nu, :, :]
            loop = u @ shifted(v, mu, +1) @ adjoint(shifted(u, nu, +1)) @ adjoint(v)
            means[mu, nu] = np.einsum("...ii", loop).real.mean() / 3
    space = np.mean([value for (_, nu), value in means.items() if nu < 3])
    time = np.mean([value for (_, nu), value in means.items() if nu == 3])
    return {"all": float((space + time) / 2), "space": float(space), "time": float(time)}


def link_trace(links: np.ndarray) -> complex:
    """Mean of tr U / 3 over sites and directions."""
    return complex(np.einsum("...ii", links).mean() / 3)


# --- sources and what is made of solutions ----------------------------------------------------------------------


def point_source(extents, site=(0, 0, 0, 0), color: int = 0) -> np.ndarray:
    nx, ny, nz, nt = extents
    b = np.zeros((nt, nz, ny, nx, 3), dtype=complex)
    x, y, z, t = site
    b[t, z, y, x, color] = 1
    return b


def plane_wave(extents, momentum, boundary=(0, 0, 0, 1)) -> tuple[np.ndarray, np.ndarray]:
    """exp(i p.x) with p_mu = (2 pi n_mu + pi theta_mu) / L_mu, shape [T, Z, Y, X], and p.

    On free links exp(i p.x) times a constant colour is an eigenvector of -D^2 with eigenvalue 4 sum_mu sin^2 p_mu.
    """
    p = np.array([(2 * n + theta) * np.pi / length for n, theta, length in zip(momentum, boundary, extents)])
    return np.exp(1j * sum(p_mu * x_mu for p_mu, x_mu in zip(p, coordinates(extents)))), p


def time_slice_norms(v: np.ndarray, origin_t: int = 0) -> np.ndarray:
    """sum over space and colour of |v|^2 per time slice, counted from `origin_t`."""
    return np.roll((abs(v) ** 2).sum(axis=(1, 2, 3, 4)), -origin_t)
