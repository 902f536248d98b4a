"""The published numbers, and the solves on real configurations that they are compared with (each done once)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference_configurations import TOLERANCE, formula_vector
from solve_files import solve, write_source
from staghorn.reference import keep_parity


@pytest.fixture(scope="session")
def expected(reference_data):
    """expected(file name) -> entry of reference.json; the SciDAC file has the links, so the results, of another."""
    entries = {entry["file"]: entry for entry in json.loads((reference_data / "reference.json").read_text())["files"]}

    def entry(name: str) -> dict:
        found = dict(entries[name])
        if not found.get("cg"):
            found["cg"] = entries[name.removesuffix(".scidac")]["cg"]
        return found

    return entry


@pytest.fixture(scope="session")
def expected_for_mass(expected):
    """expected_for_mass(file name, mass) -> results of the naive action at that mass."""

    def entry(name: str, mass: float) -> dict:
        return next(m for m in expected(name)["cg"]["naive"]["masses"] if m["m_MILC"] == mass)

    return entry


@pytest.fixture(scope="session")
def formula_source(expected, tmp_path_factory):
    """formula_source(file name) -> HDF5 file with the formula vector on even sites."""
    folder = tmp_path_factory.mktemp("sources")

    def write(name: str) -> Path:
        vector = keep_parity(formula_vector(expected(name)["dims_xyzt"]), 0)
        return write_source(folder / f"{name}.h5", vector)

    return write


@pytest.fixture(scope="session")
def solved(staghorn, reference_data, tmp_path_factory):
    """solved(file name, mass, *options) -> (report, solution), remembered for the session."""
    folder, done = tmp_path_factory.mktemp("solutions"), {}

    def run(name: str, mass: float, *options):
        key = (name, mass, *map(str, options))
        if key not in done:
            done[key] = solve(staghorn, folder, reference_data / name, "--mass", mass, "--tolerance", TOLERANCE, *options)
        return done[key]

    return run
