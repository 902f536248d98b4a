"""Solves in a basis of blocks: what the coarse matrix is a bound of, the counts of iterations, all masses from one file, and
that a bad file costs iterations and never an answer."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

CONFIGURATION = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
HISQ = ["--gauge", CONFIGURATION, "--action", "hisq"]
SOURCE = ["--system", "even", "--source", "z2:1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("coarse")


@pytest.fixture(scope="module")
def coarse(staghorn, folder):
    """coarse(vectors) -> (a file of so many near-null vectors after 60 iterations each, its report)."""
    made = {}

    def find(vectors):
        if vectors not in made:
            file, report = folder / f"c{vectors}.h5", folder / f"c{vectors}.json"
            staghorn("coarse", *HISQ, "--vectors", vectors, "--iterations", 60, "--storage", "fp64", "--output", file, "--report", report,
                     check=True)
            made[vectors] = file, json.loads(report.read_text())
        return made[vectors]

    return find


@pytest.fixture(scope="module")
def solve(staghorn, folder):
    """solve(*options) -> the report of a solve that must be certified."""

    def run(*options):
        report = folder / "solve.json"
        staghorn("solve", *HISQ, *SOURCE, *options, "--report", report, "--force", check=True)
        return json.loads(report.read_text())

    return run


def iterations(report) -> list[int]:
    return [rhs["iterations"] for rhs in report["rhs"]]


# A prototype in NumPy with exact coarse solves and other noise took these.
COUNTS = {24: [123, 145, 151], 48: [74, 78, 80]}


@pytest.mark.parametrize("vectors", COUNTS)
def test_deflated_solves_of_all_masses_take_the_iterations_of_the_prototype(coarse, solve, vectors):
    file, _ = coarse(vectors)
    report = solve("--masses", "0.05,0.01,0.002", "--coarse", file, "--solver", "deflated", "--coarse-tolerance", 1e-4)
    assert report["solver"] == "deflated" and report["outcome"] == "certified"
    assert iterations(report) == pytest.approx(COUNTS[vectors], rel=0.05)
    assert all(rhs["residual_true"] <= 1e-10 for rhs in report["rhs"])
    # two products with A an iteration, and one at the start of each mass
    assert report["coarse"]["operator_calls"] == 2 * sum(iterations(report)) + len(report["rhs"])


def test_multigrid_takes_no_more_calls_than_the_prototype_and_half_of_those_of_cg(coarse, solve):
    file, _ = coarse(24)
    for mass, of_prototype in [(0.05, 361), (0.002, 451)]:
        report = solve("--mass", mass, "--coarse", file)
        assert report["solver"] == "multigrid" and report["coarse"]["vectors"] == 24
        calls = report["coarse"]["operator_calls"]
        assert calls == 11 * iterations(report)[0] and calls <= of_prototype  # 2 x 4 of the smoother, 2 residuals, 1 of CG
    cg = solve("--mass", 0.002, "--coarse", file, "--solver", "cg", "--sloppy", "none")
    assert cg["solver"] == "cg" and cg["coarse"] is None and 2 * calls <= iterations(cg)[0] * 1.05


def test_the_coarse_matrix_bounds_the_spectrum_from_within(staghorn, coarse, folder):
    report = folder / "e.json"
    staghorn("eigen", *HISQ, "--pairs", 4, "--report", report, check=True)
    eigen = json.loads(report.read_text())
    lowest, largest = eigen["eigenvalues"][0], eigen["largest_eigenvalue"]["value"]
    few, many = (coarse(vectors)[1]["coarse"] for vectors in (24, 48))
    assert lowest < many["smallest"] < few["smallest"] < 4 * lowest  # 48 vectors know the lowest mode better than 24
    assert few["largest"] < largest and many["largest"] < largest
    assert few["blocks"] == 32 and few["block"] == [4, 4, 4, 4]
    assert few["neighbours"] == 16  # two blocks in x, y, z, and four in t: those that hops join, each once


def test_sources_batch_after_batch_are_counted_together(coarse, solve):
    file, _ = coarse(24)
    common = ["--mass", 0.05, "--coarse", file, "--tolerance", 1e-4]
    together = solve(*common, "--noise-vectors", 3, "--batch", 2)
    assert together["batch"]["columns"] == 2 and len(together["rhs"]) == 3 and together["outcome"] == "certified"
    first, second = max(iterations(together)[:2]), iterations(together)[2]
    assert together["coarse"]["operator_calls"] == 11 * (first + second) and together["coarse"]["solves"] == first + second


@pytest.mark.parametrize("mass", [0.01, 0.1])
def test_one_block_of_exact_pairs_deflates_as_eigenpairs_do(staghorn, folder, rough_gauge, mass):
    pairs, report = folder / "pairs.h5", folder / "pairs.json"
    on_gauge = ["--gauge", rough_gauge]
    if not pairs.exists():
        staghorn("eigen", *on_gauge, "--pairs", 20, "--tolerance", 1e-13, "--output", pairs, check=True)

    def solve(*options):
        staghorn("solve", *on_gauge, *SOURCE, "--mass", mass, "--sloppy", "none", *options, "--report", report, "--force", check=True)
        return json.loads(report.read_text())

    deflated, plain = solve("--eigenvectors", pairs), solve()
    blocks = solve("--coarse", pairs, "--solver", "deflated", "--coarse-block", "4,6,8,10", "--coarse-tolerance", 1e-12)
    assert blocks["solver"] == "deflated" and blocks["coarse"]["blocks"] == 1 and blocks["coarse"]["neighbours"] == 1
    assert abs(iterations(blocks)[0] - iterations(deflated)[0]) <= 1
    assert iterations(blocks)[0] < 0.9 * iterations(plain)[0]


def test_a_file_of_noise_costs_iterations_and_no_answer(staghorn, coarse, solve, folder):
    good, bad = coarse(24)[0], folder / "noise.h5"
    noise = np.random.default_rng(5)
    bad.write_bytes(good.read_bytes())
    with h5py.File(bad, "r+") as file:
        data = file["eigenvectors"]
        for k in range(data.shape[0]):
            v = noise.normal(size=data.shape[1:]) + 1j * noise.normal(size=data.shape[1:])
            data[k] = v / np.linalg.norm(v)
    refused = staghorn("solve", *HISQ, *SOURCE, "--mass", 0.05, "--coarse", bad)
    assert refused.returncode == 1 and "sum" in refused.stderr, refused.stderr
    from_noise = solve("--mass", 0.05, "--coarse", bad, "--no-verify")
    assert from_noise["outcome"] == "certified"
    assert iterations(from_noise)[0] > 2 * iterations(solve("--mass", 0.05, "--coarse", good))[0]


@pytest.mark.parametrize("options, words", [
    (["--system", "odd"], ["--system", "full or even with --coarse", "odd"]),
    (["--coarse-block", "3,4,4,4"], ["block", "even extents that divide the lattice 8x8x8x16"]),
    (["--coarse-tolerance", 2], ["--coarse-tolerance", "above 0, at most 0.5"]),
    (["--boundary", "periodic,periodic,periodic,periodic"], ["boundary"]),
])
def test_what_does_not_fit_a_basis_of_blocks_is_refused(staghorn, coarse, options, words):
    found = staghorn("solve", *HISQ, "--source", "z2:1", "--mass", 0.05, "--coarse", coarse(24)[0], *options)
    assert found.returncode in (1, 2) and all(word in found.stderr for word in words), found.stderr


def test_vectors_of_other_links_or_as_eigenvectors_are_refused(staghorn, coarse):
    file = coarse(24)[0]
    naive = staghorn("solve", "--gauge", CONFIGURATION, *SOURCE, "--mass", 0.05, "--coarse", file)
    assert naive.returncode == 1 and "action" in naive.stderr and "naive" in naive.stderr
    eigen = staghorn("solve", *HISQ, *SOURCE, "--mass", 0.05, "--eigenvectors", file)
    assert eigen.returncode == 1 and "V^+ V - 1" in eigen.stderr
