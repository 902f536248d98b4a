"""Solves through files, and reads and writes these files."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import h5py
import numpy as np


def with_checksums(dataset) -> None:
    """Gives a dataset of links or vectors the attributes suma and sumb, as lattice_io/README.md defines them."""
    numbers = dataset[...]
    sites = numbers.reshape(-1, 36 if numbers.shape[-3:] == (4, 3, 3) else 3)
    sums = {"suma": 0, "sumb": 0}
    for number, site in enumerate(sites):
        crc = zlib.crc32(site.tobytes())
        for name, period in (("suma", 29), ("sumb", 31)):
            sums[name] ^= (crc << number % period | crc >> 32 - number % period) & 0xFFFFFFFF
    dataset.attrs.update({name: f"{value:08x}" for name, value in sums.items()})


def write_source(path: Path, vectors: np.ndarray) -> Path:
    """Writes `vectors`, [T, Z, Y, X, 3] or [n_rhs, T, Z, Y, X, 3], as dataset /source."""
    vectors = vectors if vectors.ndim == 6 else vectors[None]
    with h5py.File(path, "w") as file:
        file["source"] = vectors.astype(complex)
        with_checksums(file["source"])
    return path


def read_solution(path: Path) -> np.ndarray:
    """Dataset /solution, [n_rhs, T, Z, Y, X, 3]."""
    with h5py.File(path, "r") as file:
        return file["solution"][...].astype(complex)


def solution_bytes(path: Path) -> bytes:
    """The bytes of dataset /solution, for comparisons to the last bit."""
    with h5py.File(path, "r") as file:
        return file["solution"][...].tobytes()


def solve(staghorn, folder: Path, gauge: Path, *options, name: str = "solve", ranks=1, threads=None, env=None,
          check=True):
    """Runs `staghorn solve` and returns (report, solution [n_rhs, T, Z, Y, X, 3])."""
    output, report = folder / f"{name}.h5", folder / f"{name}.json"
    staghorn("solve", "--gauge", gauge, *options, "--output", output, "--report", report, "--force", ranks=ranks,
             threads=threads, env=env, check=check)
    return json.loads(report.read_text()), read_solution(output)


ROUNDING = {"fp32": 2.0**-24, "fp16": 2.0**-16}


def assert_iterated_in(sloppy: str, mixed: dict, double: dict):
    """Asserts that a solve iterated in precision `sloppy`. `mixed` and `double` are one right-hand side of its report and of
    the report of the same solve in fp64.

    The solution was updated in fp64 at least once, and the first ten residuals carry the rounding of `sloppy`: they differ
    from those of fp64 by at least a hundredth of it.
    """
    assert mixed["updates"] == sorted(mixed["updates"]) and len(mixed["updates"]) >= 1
    first = slice(1, 1 + min(10, mixed["updates"][0]))
    deviation = max(abs(found / exact - 1) for found, exact in zip(mixed["history"][first], double["history"][first]))
    assert deviation > ROUNDING[sloppy] / 100


def relative_difference(found: np.ndarray, expected: np.ndarray) -> float:
    """|found - expected| / |expected|."""
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))
