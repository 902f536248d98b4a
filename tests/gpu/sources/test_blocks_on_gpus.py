"""Near-null vectors, and solves in their blocks, have the CPU's bits on a GPU, also where ranks share it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

CONFIGURATION = Path(__file__).resolve().parents[3] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
COUNTED = ["solves", "iterations", "operator_calls", "smallest", "largest_of_pairs", "largest", "set_up_products"]
COMMON = {"env": {"SOURCE_DATE_EPOCH": "1700000000"}, "check": True}
TWO_RANKS = {"ranks": 2, "grid": ("--grid", "1,1,1,2")}


@pytest.fixture(scope="module")
def vectors(staghorn, tmp_path_factory):
    """vectors(device, ranks=, grid=) -> the file of eight vectors that was found there."""
    made = {}

    def find(device, ranks=1, grid=()):
        if (device, ranks) not in made:
            file = tmp_path_factory.mktemp("vectors") / "c.h5"
            staghorn("coarse", "--gauge", CONFIGURATION, "--action", "hisq", "--vectors", 8, "--iterations", 30, "--storage", "fp64",
                     "--device", device, *grid, "--output", file, ranks=ranks, **COMMON)
            made[device, ranks] = file
        return made[device, ranks]

    return find


def test_vectors_have_the_bits_of_the_cpu(vectors):
    expected = vectors("cpu").read_bytes()
    assert vectors("cuda").read_bytes() == expected
    assert vectors("cuda", **TWO_RANKS).read_bytes() == expected


@pytest.fixture
def solve(staghorn, vectors, tmp_path):
    """solve(device, *options, ranks=, grid=) -> the bytes of the solutions, and what was counted."""

    def run(device, *options, ranks=1, grid=()):
        solution, report = tmp_path / "x.h5", tmp_path / "x.json"
        staghorn("solve", "--gauge", CONFIGURATION, "--action", "hisq", "--mass", 0.05, "--coarse", vectors("cpu"), "--tolerance", 1e-6,
                 *options, *grid, "--device", device, "--output", solution, "--report", report, "--force", ranks=ranks, **COMMON)
        found = json.loads(report.read_text())
        assert found["outcome"] == "certified" and found["coarse"]["solves"] > 2
        assert found["device"].startswith("cuda") == (device == "cuda")
        return solution.read_bytes(), [found["coarse"][name] for name in COUNTED], [rhs["iterations"] for rhs in found["rhs"]]

    return run


@pytest.mark.parametrize("options", [
    ("--solver", "multigrid", "--sloppy", "none"),
    ("--solver", "multigrid", "--sloppy", "fp32", "--noise-vectors", 3, "--batch", 3),
    ("--solver", "multigrid", "--sloppy", "fp16", "--noise-vectors", 15, "--batch", 15),
    ("--solver", "deflated", "--sloppy", "none", "--system", "even", "--source", "z2:1"),
])
def test_solves_have_the_bits_of_the_cpu(solve, options):
    expected = solve("cpu", *options)
    assert solve("cuda", *options) == expected
    assert solve("cuda", *options, **TWO_RANKS) == expected
