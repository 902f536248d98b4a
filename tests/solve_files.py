"""Solves through files, and reads and writes these files."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np


def write_source(path: Path, vectors: np.ndarray) -> Path:
    """Writes `vectors`, [T, Z, Y, X, 3] or [n_rhs, T, Z, Y, X, 3], as dataset /source."""
    vectors = vectors if vectors.ndim == 6 else vectors[None]
    with h5py.File(path, "w") as file:
        file["source"] = vectors.astype(complex)
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
