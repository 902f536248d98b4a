"""Files of links and colour vectors as NumPy arrays, in every format of the program (docs/files.md)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import Error
from .session import ComplexArray, _native, complex_array, read_gauge

__all__ = ["read_gauge", "read_vectors", "write_gauge", "write_vectors"]


def write_gauge(path: str | os.PathLike[str], links: ArrayLike, *, format: str | None = None, precision: str | None = None,
                force: bool = False) -> None:
    """Writes U[T, Z, Y, X, mu, 3, 3] with every checksum that the format has.

    format     milc, nersc, ildg, scidac, hdf5, npy, openqcd or kyu; default: what the name ends in, as .nersc, else hdf5
    precision  fp64 or fp32 of the stored numbers; default: fp64 where the format has it
    force      replace the file if it exists
    """
    _native.write_gauge(os.fspath(path), complex_array(links, "links", (4, 3, 3)), format, precision, force)


def read_vectors(path: str | os.PathLike[str], verify: bool = True) -> tuple[ComplexArray, dict[str, Any]]:
    """The colour vectors v[n, T, Z, Y, X, 3] of a file in complex128, and what the file says of them.

    Of HDF5 /solution, or /source where there is none. The dict has format, dataset, lattice (X, Y, Z, T), precision, header
    fields and checksums. With `verify` an absent or wrong checksum raises Error; without it the mismatch is only listed.
    """
    return _native.read_vectors(os.fspath(path), verify)


def write_vectors(path: str | os.PathLike[str], vectors: ArrayLike, *, name: str = "source", format: str | None = None,
                  precision: str = "fp64", force: bool = False) -> None:
    """Writes v[n, T, Z, Y, X, 3] or v[T, Z, Y, X, 3], as a source that a solve reads.

    name       of the dataset in HDF5
    format     hdf5, scidac or npy; default: what the name ends in, as .scidac or .npy, else hdf5
    precision  fp64 or fp32 of the stored numbers
    force      replace the file if it exists
    """
    array = complex_array(vectors, "vectors", (3,), (0, 1))
    if array.size == 0:
        raise Error(f"vectors: expected at least one, found shape {array.shape}")
    _native.write_vectors(os.fspath(path), array if array.ndim == 6 else np.ascontiguousarray(array[None]), name, format,
                          precision, force)
