"""Files of eigenpairs by NumPy, as lattice_io/eigenvectors describes them, and eigenpairs of small lattices by LAPACK."""

from __future__ import annotations

import functools
import operator
import zlib
from pathlib import Path

import h5py
import numpy as np

ANTIPERIODIC_T = "periodic,periodic,periodic,antiperiodic"


def even_rows(v: np.ndarray) -> np.ndarray:
    """The even sites of [..., T, Z, Y, X, 3] as [..., T, Z, Y, X/2, 3]."""
    t, z, y = np.meshgrid(*map(np.arange, v.shape[-5:-2]), indexing="ij")
    odd = (t + z + y) % 2 == 1
    return np.where(odd[..., None, None], v[..., 1::2, :], v[..., 0::2, :])


def on_lattice(rows: np.ndarray) -> np.ndarray:
    """The inverse of even_rows; zero on odd sites."""
    t, z, y = np.meshgrid(*map(np.arange, rows.shape[-5:-2]), indexing="ij")
    odd = ((t + z + y) % 2 == 1)[..., None, None]
    v = np.zeros((*rows.shape[:-2], 2 * rows.shape[-2], 3), complex)
    v[..., 0::2, :] = np.where(odd, 0, rows)
    v[..., 1::2, :] = np.where(odd, rows, 0)
    return v


def eigenpairs(d, extents) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues of -D^2 on even sites, ascending, and its vectors [n, T, Z, Y, X, 3]; `d` applies D."""
    x, y, z, t = extents
    rows = (t, z, y, x // 2, 3)
    n = int(np.prod(rows))
    k = np.empty((n, n), complex)
    for i in range(n):
        unit = np.zeros(n)
        unit[i] = 1
        k[:, i] = -even_rows(d(d(on_lattice(unit.reshape(rows))))).ravel()
    values, vectors = np.linalg.eigh((k + k.conj().T) / 2)
    return values, on_lattice(vectors.T.reshape(n, *rows))


def links_hash(links: np.ndarray) -> str:
    """site_hash of dirac/fields/site_hash.hpp for links [T, Z, Y, X, 4, 3, 3]."""
    def mix(word):
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            word = (word ^ word >> np.uint64(33)) * np.uint64(factor)
        return word ^ word >> np.uint64(33)

    n = int(np.prod(links.shape[:4]))
    words = np.ascontiguousarray(links.astype(complex)).reshape(n, -1).view(np.uint64)
    of_site = mix(np.arange(n, dtype=np.uint64))
    for k in range(words.shape[1]):
        of_site = mix(of_site + words[:, k])
    return f"{int(of_site.sum(dtype=np.uint64)):016x}"


def stored(vectors: np.ndarray, storage: str) -> np.ndarray:
    """Even rows [n, T, Z, Y, X/2, 3] as the numbers of a file."""
    if storage != "fp16":
        return vectors.astype({"fp64": "<c16", "fp32": "<c8"}[storage])
    reals = np.stack([vectors.real, vectors.imag], axis=-1).reshape(*vectors.shape[:-1], 6)
    unit = (np.abs(reals).max(axis=-1) / 32767).astype("<f4")
    q = np.rint(np.divide(reals, unit[..., None].astype(float), out=np.zeros_like(reals), where=unit[..., None] > 0))
    return np.concatenate([q.astype("<i2"), unit[..., None].view("<i2")], axis=-1)


def crc(numbers: np.ndarray) -> str:
    return f"{zlib.crc32(numbers.tobytes()):08x}"


def write_eigenpairs(path: Path, values, vectors: np.ndarray, links: np.ndarray, storage="fp64", residual=1e-13,
                     **identity) -> Path:
    """A file of Staghorn's HDF5 with vectors [n, T, Z, Y, X, 3], of naive quarks unless `identity` says otherwise."""
    numbers = stored(even_rows(vectors), storage)
    values, residuals = np.asarray(values, "<f8"), np.full(len(values), residual, "<f8")
    sums = [zlib.crc32(site.tobytes()) for site in numbers.reshape(-1, numbers.shape[-1])]
    attributes = {"boundary": ANTIPERIODIC_T, "action": "naive", "links_hash": links_hash(links), "parity": "even",
                  "eigenvalues_crc32": crc(values), "residuals_crc32": crc(residuals), **identity}
    for name, period in (("suma", 29), ("sumb", 31)):
        rotated = ((c << s % period | c >> 32 - s % period) & 0xFFFFFFFF for s, c in enumerate(sums))
        attributes.setdefault(name, f"{functools.reduce(operator.xor, rotated):08x}")
    with h5py.File(path, "w") as file:
        file["eigenvectors"], file["eigenvalues"], file["residuals"] = numbers, values, residuals
        file["eigenvectors"].attrs.update({name: np.bytes_(value) for name, value in attributes.items()})
    return path
