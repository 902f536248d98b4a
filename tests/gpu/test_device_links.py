"""Links of improved quarks made on a GPU: the bits of the host's on every process grid, and the same word of a singular link."""

from __future__ import annotations

import json
from math import prod

import pytest

pytestmark = pytest.mark.gpu

CANNOT_RUN = 77


@pytest.mark.parametrize("grid", [(1, 1, 1, 1), (1, 1, 1, 2), (2, 1, 2, 1), (1, 1, 2, 2)], ids=str)
def test_links_made_on_a_gpu_have_the_bits_of_the_host(run_built, grid):
    result = run_built("device_links", 8, 4, 8, 8, *grid, ranks=prod(grid), timeout=300)
    if result.returncode == CANNOT_RUN:
        pytest.skip("no GPU")
    assert result.returncode == 0 and "all the same" in result.stdout, result.stdout + result.stderr
    assert result.stdout.count("same: ") == 12


def solve(staghorn, folder, gauge, *options, **settings):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--action", "hisq", "--output", folder / "x.h5", "--report",
                      folder / "report.json", "--force", *options, **settings)
    assert result.returncode == 0, result.stderr
    return json.loads((folder / "report.json").read_text()), result.stdout


def test_the_report_says_where_links_were_made(staghorn, tmp_path, small_gauge):
    found = {device: solve(staghorn, tmp_path, small_gauge, "--device", device) for device in ("cpu", "cuda")}
    assert {device: report["improved"]["made_on"] for device, (report, _) in found.items()} == {"cpu": "host", "cuda": "device"}
    cpu, gpu = (found[device][0]["improved"] for device in ("cpu", "cuda"))
    assert gpu["device_seconds"] > 0 and gpu["seconds"] > 0 and cpu["device_seconds"] == 0 < cpu["seconds"]
    for name in ("smallest_singular_value", "smallest_determinant", "naik_unitarity", "naik_scale"):
        assert cpu[name] == gpu[name]
    assert found["cpu"][0]["rhs"] == found["cuda"][0]["rhs"]
    assert "made on the GPU" in found["cuda"][1] and "made on the GPU" not in found["cpu"][1]


def test_without_memory_on_the_gpu_the_host_makes_links(staghorn, tmp_path, small_gauge):
    """A GPU that has room for the solve alone."""
    whole = solve(staghorn, tmp_path, small_gauge, "--device", "cuda", "--sloppy", "none")[0]
    needed = sum(whole["predicted_memory_bytes"][name] for name in ("links", "halo", "vectors"))
    report = solve(staghorn, tmp_path, small_gauge, "--device", "cuda", "--sloppy", "none", env={"STAGHORN_GPU_MEMORY": str(int(needed) + 1)})[0]
    assert report["improved"]["made_on"] == "host" and report["rhs"] == whole["rhs"]
