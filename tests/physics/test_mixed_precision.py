"""Mixed precision: how often it updates, and what that costs."""

from __future__ import annotations

import json
from pathlib import Path


def test_few_updates_and_no_more_iterations_on_large_lattices(staghorn, tmp_path):
    gauge, path = tmp_path / "hot.h5", tmp_path / "report.json"
    staghorn("generate", "--lattice", 16, 16, 16, 32, "--start", "hot", "--sweeps", 0, "--seed", 3, "--output", gauge, check=True)

    def solve(*options):
        staghorn("solve", "--gauge", gauge, "--mass", 0.3, "--source", "point:0,0,0,0", "--color", 0, "--system", "even",
                 "--tolerance", 1e-10, "--report", path, "--force", *options, check=True)
        return json.loads(path.read_text())["rhs"][0]

    double = solve()
    # falls by 2000, 50 and 25
    for sloppy, links, most in (("fp32", 12, 4), ("fp16", 12, 6), ("fp16", 8, 8)):
        mixed = solve("--sloppy", sloppy, "--sloppy-links", links)
        assert mixed["residual_true"] <= 1e-10
        assert mixed["iterations"] <= 1.02 * double["iterations"]
        assert len(mixed["updates"]) <= most


def test_no_more_iterations_on_ill_conditioned_systems(staghorn, tmp_path):
    """The residual falls fast at first and slowly later: updates must not be as far apart as that first rate suggests."""
    gauge, path = tmp_path / "gauge.h5", tmp_path / "report.json"
    staghorn("generate", "--lattice", 12, 12, 12, 16, "--beta", 6.0, "--sweeps", 10, "--seed", 5, "--output", gauge, check=True)

    def solve(*options):
        staghorn("solve", "--gauge", gauge, "--mass", 0.005, "--source", "point:1,0,2,3", "--color", 1, "--system", "even",
                 "--tolerance", 1e-10, "--max-iterations", 20000, "--report", path, "--force", *options, check=True)
        return json.loads(path.read_text())["rhs"][0]

    double = solve()
    for sloppy, more in (("fp32", 1.05), ("fp16", 1.5)):
        mixed = solve("--sloppy", sloppy)
        print(sloppy, double["iterations"], mixed["iterations"])
        assert mixed["residual_true"] <= 1e-10
        assert mixed["iterations"] <= more * double["iterations"]


def test_massless_systems_end(staghorn, tmp_path):
    """What bounds the distance of updates has no mass to divide by."""
    gauge = Path(__file__).parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
    path = tmp_path / "report.json"

    def solve(*options):
        staghorn("solve", "--gauge", gauge, "--mass", 0, "--source", "point:0,0,0,0", "--color", 0, "--system", "even",
                 "--tolerance", 1e-10, "--max-iterations", 20000, "--report", path, "--force", *options, check=True)
        return json.loads(path.read_text())["rhs"][0]

    double = solve()
    for sloppy in "fp32", "fp16":
        mixed = solve("--sloppy", sloppy)
        assert mixed["residual_true"] <= 1e-10
        assert mixed["iterations"] <= 1.5 * double["iterations"]
