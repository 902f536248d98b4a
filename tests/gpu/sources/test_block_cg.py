"""Block CG on a GPU has the bits of the CPU, for as many right-hand sides as different kernels take."""

from __future__ import annotations

import pytest
from solve_files import solution_bytes, solve

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("sloppy", [("--sloppy", "none"), ("--sloppy", "fp32")], ids=["fp64", "fp64/fp32"])
@pytest.mark.parametrize("sources", [3, 8, 11, 16])
def test_block_cg_has_the_bits_of_the_cpu(staghorn, rough_gauge, tmp_path, sources, sloppy):
    options = ("--mass", 0.3, "--source", "z2:3", "--noise-vectors", sources, "--system", "even", "--solver", "block", *sloppy)
    bits = {}
    for device in ("cpu", "cuda"):
        report, _ = solve(staghorn, tmp_path, rough_gauge, *options, "--device", device, name=device)
        assert report["outcome"] == "certified" and report["device"].startswith(device)
        assert report["loop"] == "block" and report["took_over"] is None
        bits[device] = [rhs["history"] for rhs in report["rhs"]], solution_bytes(tmp_path / f"{device}.h5")
    assert bits["cpu"] == bits["cuda"]
