"""Multi-shift CG on a GPU has the bits of the CPU."""

from __future__ import annotations

import pytest
from solve_files import solution_bytes, solve

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("options", [
    ["--source", "z2:3", "--sloppy", "none", "--noise-vectors", 2],
    ["--source", "gaussian:3", "--sloppy", "none", "--noise-vectors", 3, "--system", "odd"],
    ["--source", "z2:3", "--sloppy", "none", "--action", "hisq"],
    ["--source", "z2:3", "--precision", "fp32", "--tolerance", "1e-5"],
    ["--source", "z2:3", "--sloppy", "fp32"],
    ["--source", "z2:3", "--sloppy", "fp32", "--masses", "0.1,0.101,0.102,0.103"],
], ids=["two halves", "odd", "hisq", "fp32", "mixed", "close"])
def test_many_masses_have_the_bits_of_the_cpu(staghorn, rough_gauge, tmp_path, options):
    masses = () if "--masses" in options else ("--masses", "0.1,0.3,0.6")
    bits = {}
    for device in ("cpu", "cuda"):
        report, _ = solve(staghorn, tmp_path, rough_gauge, *masses, "--device", device, *options, name=device)
        assert report["outcome"] == "certified" and report["device"].startswith(device)
        shifts = report["multi_shift"]
        assert (0 < shifts["sloppy_iterations"] < shifts["iterations"]) == ("fp32" in options and "--sloppy" in options), "not what it is called"
        bits[device] = report["multi_shift"], solution_bytes(tmp_path / f"{device}.h5")
    assert bits["cpu"] == bits["cuda"]
