"""Files of links and colour vectors as NumPy arrays, in every format of the program (docs/files.md)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import checked
from .compiled_modules import loading
from .errors import Error, verify_is_an_argument
from .paths import PathLike
from .progress import ProgressLine
from .session import ComplexArray, complex_array, links_array, read_gauge

with loading():
    from . import _native

__all__ = ["example_gauge", "generate", "read_gauge", "read_vectors", "write_gauge", "write_vectors"]


def example_gauge() -> str:
    """The path of the configuration that comes with the package, for examples: quenched, 8x8x8x16, beta = 5.7, in NERSC's format.
    Raises Error where the package came without it."""
    path = os.path.join(os.path.dirname(__file__), "quenched_8x8x8x16_b5.70.nersc")
    if not os.path.exists(path):
        raise Error(f"{path}: expected the configuration of examples, found none; configs/ of the sources has it", "file")
    return path


@checked
def write_gauge(path: PathLike, links: ArrayLike, *, format: str | None = None, precision: str | None = None,
                force: bool = False, order: str | None = None, compress: int = 0) -> None:
    """Writes U[T, Z, Y, X, mu, 3, 3] with every checksum that the format has.

    format     milc, nersc, ildg, scidac, hdf5, npy, openqcd, kyu or pyquda; default: what the name ends in, as .nersc, else hdf5
    precision  fp64 or fp32 of the stored numbers; default: fp64 where the format has it
    force      replace the file if it exists
    order      "lex" of the links above, "pyquda" of U[mu, T, Z, Y, X, 3, 3]; needed where a shape fits both
    compress   of HDF5: gzip's level, 1 to 9; 0: not at all
    """
    _native.write_gauge(os.fsdecode(path), links_array(links, order), format, precision, force, int(compress))


@checked
def generate(lattice: tuple[int, int, int, int] | None = None, *, beta: float | None = None, sweeps: int = 0, seed: int = 1,
             start: PathLike = "hot", overrelaxation: int = 4, save_every: int = 0,
             save_as: PathLike | None = None, output: PathLike | None = None,
             format: str | None = None, precision: str | None = None, device: str = "auto", force: bool = False,
             progress: Callable[[int, int], Any] | bool | None = None) -> ComplexArray:
    """A Markov chain of quenched SU(3) configurations, as `staghorn generate` makes it: the same bits, the same files.

    lattice         X, Y, Z, T, even; None: that of the file `start`
    beta            6 / g^2; needed unless `sweeps` is 0
    sweeps          heatbath sweeps from `start` on
    seed            of the random numbers
    start           cold, hot, or a file of links, whose chain goes on
    overrelaxation  microcanonical steps after each sweep
    save_every      keep the links after every so many sweeps of the chain, as `save_as` says
    save_as         names of these files: {n} is the number of sweeps, {n:04} with at least four digits
    output          file for the last links
    format          of the files; default: what the name ends in, as .nersc, else hdf5
    precision       fp64 or fp32 of the stored numbers; default: fp64 where the format has it
    device          auto, cpu or cuda
    force           replace files that exist
    progress        called as progress(sweeps done, sweeps) before each sweep; what it raises ends the chain. True: a line that is
                    written over, in a terminal or a notebook

    Returns the last links U[T, Z, Y, X, mu, 3, 3]. Runs in this process alone. Raises Error.
    """
    if beta is None and sweeps > 0:
        raise Error("beta: expected a number where `sweeps` is not 0, found none", "argument")
    line = ProgressLine() if progress is True else None
    told: Any = (lambda done, of: line.tell(f"sweep {done} of {of}")) if line is not None else progress or None
    links = _native.generate(lattice, os.fsdecode(start), 0.0 if beta is None else float(beta), int(sweeps),
                             int(overrelaxation), int(seed), int(save_every), None if save_as is None else os.fsdecode(save_as),
                             None if output is None else os.fsdecode(output), format, precision, device, bool(force), told)
    if line is not None:
        line.end(f"{sweeps} sweeps")
    return links


@checked
def read_vectors(path: PathLike, verify: bool = True, *, probe: bool = False) -> tuple[ComplexArray, dict[str, Any]]:
    """The colour vectors v[n, T, Z, Y, X, 3] of a file in complex128, and what the file says of them.

    Of HDF5 /solution, or /source where there is none. The dict has format, dataset, lattice (X, Y, Z, T), precision, header
    fields, checksums and fault. With `verify` an absent or wrong checksum raises Error, and so do NaN, infinities and
    a vector of zeros; without it the mismatch is only listed, and `fault` says what is wrong with the numbers. With `probe`
    a child process meets an HDF5 file first, so that a damaged one that makes the HDF5 library crash raises Error.
    """
    with verify_is_an_argument():
        return _native.read_vectors(os.fsdecode(path), bool(verify), bool(probe))


@checked
def write_vectors(path: PathLike, vectors: ArrayLike, *, name: str = "source", format: str | None = None,
                  precision: str | None = None, force: bool = False, compress: int = 0) -> None:
    """Writes v[n, T, Z, Y, X, 3] or v[T, Z, Y, X, 3], as a source that a solve reads.

    name       of the dataset in HDF5
    format     hdf5, scidac, npy or fnal; default: what the name ends in, as .scidac, .npy or .fnal, else hdf5
    precision  fp64 or fp32 of the stored numbers; default: fp64 where the format has it
    force      replace the file if it exists
    compress   of HDF5: gzip's level, 1 to 9; 0: not at all
    """
    array = complex_array(vectors, "vectors", (3,), (0, 1))
    if array.size == 0:
        raise Error(f"vectors: expected at least one, found shape {array.shape}", "layout")
    _native.write_vectors(os.fsdecode(path), array if array.ndim == 6 else np.ascontiguousarray(array[None]), name, format,
                          precision, force, int(compress))
