"""Mixed precision on a lattice large enough for rare updates in 16 bits."""

from __future__ import annotations

import json


def test_few_updates_and_no_more_iterations_in_fixed_point_on_large_lattices(staghorn, tmp_path):
    gauge, path = tmp_path / "hot.h5", tmp_path / "report.json"
    staghorn("generate", "--lattice", 16, 16, 16, 32, "--start", "hot", "--sweeps", 0, "--seed", 3, "--output", gauge, check=True)

    def solve(*options):
        staghorn("solve", "--gauge", gauge, "--mass", 0.3, "--source", "point:0,0,0,0", "--color", 0, "--system", "even",
                 "--tolerance", 1e-10, "--report", path, "--force", *options, check=True)
        return json.loads(path.read_text())["rhs"][0]

    double = solve()
    for links, most in ((12, 10), (8, 12)):  # falls by 20 and by 10
        mixed = solve("--sloppy", "fp16", "--sloppy-links", links)
        assert mixed["residual_true"] <= 1e-10
        assert mixed["iterations"] <= 1.02 * double["iterations"]
        assert len(mixed["updates"]) <= most
