"""Solving from Python: NumPy arrays in and out, the same requests and reports as the command line.

Every Python process solves on its own (with threads). Under mpirun each rank is its own, independent solver: good for
many configurations at once. To cut one lattice among ranks use the program `staghorn`.
"""

from __future__ import annotations

import json
import os

import numpy as np

from . import _native
from ._native import Error

__all__ = ["Error", "Session", "read_gauge", "solve", "version"]

version: str = _native.version


def read_gauge(path, verify: bool = True) -> tuple[np.ndarray, dict]:
    """The links of a gauge file and what its header says.

    Any format that `staghorn inspect` knows; found from the content. Returns U[T, Z, Y, X, mu, 3, 3] in complex128 and
    a dict with format, lattice (X, Y, Z, T), precision, header fields, checksums and warnings. With `verify` a wrong
    checksum raises Error; without it the mismatch is only listed.
    """
    return _native.read_gauge(os.fspath(path), verify)


class Session:
    """One gauge configuration, loaded and set up once, solved on many times.

    gauge         path of a gauge file, or links U[T, Z, Y, X, 4, 3, 3]
    boundary      "px,py,pz,pt": periodic, antiperiodic or a phase in units of pi; or four numbers in units of pi
    precision     "fp64" or "fp32", of the solver; every answer is checked in fp64
    links         reals stored per link: 18, or 12 or 8 (imply `reunitarize`)
    sloppy        mixed precision: iterate in "fp32" or "fp16" (16-bit fixed point), update in fp64; None: do not
    sloppy_links  reals per link in these iterations, 12 by default
    reunitarize   project the links onto SU(3) first
    device        "auto", "cpu", "cuda" or "cuda:n"
    tuning        "on", "off" or "again": whether launches on a GPU are timed and remembered; $STAGHORN_TUNING, or "on"
    blas          "fused", or "cublas": the baseline, on a GPU
    loopback      directions ("xyzt") to cut although one process holds them; changes nothing but the speed
    """

    def __init__(self, gauge, *, boundary="periodic,periodic,periodic,antiperiodic", precision="fp64", links=18,
                 sloppy=None, sloppy_links=None, reunitarize=False, device="auto", tuning=None, blas="fused",
                 loopback=""):
        if not isinstance(boundary, str):
            boundary = ",".join(map(repr, map(float, boundary)))
        if sloppy_links is not None:
            sloppy_links = str(sloppy_links)
        options = (boundary, precision, str(links), sloppy, sloppy_links, bool(reunitarize), loopback, device, tuning, blas)
        if isinstance(gauge, (str, os.PathLike)):
            self._native = _native.Session(os.fspath(gauge), *options)
        else:
            self._native = _native.Session(complex_array(gauge, "links", (4, 3, 3)), *options)

    @property
    def lattice(self) -> tuple[int, int, int, int]:
        """Extents X, Y, Z, T."""
        return tuple(self._native.lattice)

    @property
    def links(self) -> np.ndarray:
        """The links in use, U[T, Z, Y, X, mu, 3, 3], re-unitarised if that was asked for or implied. A copy."""
        return self._native.links()

    @property
    def gauge(self) -> dict:
        """File, format, plaquette, link trace, unitarity and checksums, as in the report."""
        return self._native.gauge()

    def solve(self, mass: float, source, *, system="full", color="all", tolerance=None, max_iterations=10000,
              phases="cps", noise_vectors=1, guess=None) -> tuple[np.ndarray, dict]:
        """Solves (2 mass + D) x = b (system "full") or (4 mass^2 - D^2) x = b ("even", "odd").

        source   vector b[T, Z, Y, X, 3], several of them [n, T, Z, Y, X, 3], or a source as on the command line:
                 "point:x,y,z,t", "corner-wall:t", "even-wall:t", "wall:t", "z2:SEED", "gaussian:SEED", "file:F.h5"
        color    0, 1, 2 or "all": the colours of a named point or wall source
        noise_vectors   how many, for a noise source; two or more give the condensate an error
        guess    initial guess of the shape of the solution; zero by default
        phases   "cps" or "milc": convention of sources, guesses and solutions

        Returns the solution, of the shape of the source ([n, T, Z, Y, X, 3] for a named source), and the report as a
        dict. Non-convergence is a result (report["outcome"]); bad input raises Error.
        """
        request = (float(mass), system, tolerance, int(max_iterations), phases)
        single = False
        if not isinstance(source, str):
            source = complex_array(source, "source", (3,), (0, 1))
            single = source.ndim == 5
            source = source[None] if single else source
        if guess is not None:
            guess = complex_array(guess, "guess", (3,), (0, 1))
            guess = guess if guess.ndim == 6 else guess[None]
        solution, report = self._native.solve(*request, source, str(color), int(noise_vectors), guess)
        return (solution[0] if single else solution), json.loads(report)


def solve(gauge, mass: float, source, *, system="full", color="all", tolerance=None, max_iterations=10000, phases="cps",
          noise_vectors=1, guess=None, **session_options) -> tuple[np.ndarray, dict]:
    """Session(gauge, **session_options).solve(mass, source, ...): for one solve on a configuration."""
    return Session(gauge, **session_options).solve(mass, source, system=system, color=color, tolerance=tolerance,
                                                   max_iterations=max_iterations, phases=phases, noise_vectors=noise_vectors,
                                                   guess=guess)


def complex_array(values, what: str, site_shape: tuple, leading: tuple = (0,)) -> np.ndarray:
    """`values` as a contiguous complex128 array [..., T, Z, Y, X, *site_shape] with so many leading axes, or Error."""
    array = np.ascontiguousarray(values, dtype=np.complex128)
    if array.ndim - 4 - len(site_shape) not in leading or array.shape[array.ndim - len(site_shape):] != site_shape:
        expected = " or ".join(str(("n",) * n + ("T", "Z", "Y", "X", *site_shape)).replace("'", "") for n in leading)
        raise Error(f"{what}: expected shape {expected}, found {array.shape}")
    return array
