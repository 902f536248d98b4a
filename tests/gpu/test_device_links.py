"""Links made on a GPU, of improved quarks and of a gradient flow: the bits of the host's on every process grid, and the same word of a
singular link."""

from __future__ import annotations

import json
from math import prod

import h5py
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


SMOOTH = {"wilson": ("--time", 0.09, "--step", 0.03), "symanzik": ("--time", 0.09, "--step", 0.03), "stout": ("--steps", 3), "stout in space": ("--space-only",)}


@pytest.mark.parametrize("grid", [(1, 1, 1, 1), (1, 1, 1, 2), (2, 1, 2, 1)], ids=str)
@pytest.mark.parametrize("method", SMOOTH)
def test_links_smoothed_on_a_gpu_have_the_bits_of_the_host(staghorn, tmp_path, small_gauge, method, grid):
    made = {}
    for device, cut in (("cpu", (1, 1, 1, 1)), ("cuda", grid), ("auto", grid)):
        output, report = tmp_path / f"{device}.h5", tmp_path / f"{device}.json"
        staghorn("smooth", "--gauge", small_gauge, "--method", method.split()[0], *SMOOTH[method], "--device", device, "--grid", ",".join(map(str, cut)),
                 "--output", output, "--report", report, ranks=prod(cut), check=True)
        found = json.loads(report.read_text())
        assert found["ranks"] == prod(cut) and found["device"].startswith("cpu" if device == "cpu" else "cuda:")
        with h5py.File(output) as file:
            made[device] = (file["links"][...].tobytes(), found["before"], found["after"], found["flow"])
    assert made["cuda"] == made["auto"] == made["cpu"]
    assert made["cpu"][1] != made["cpu"][2]


def test_methods_of_the_host_alone_refuse_a_gpu(staghorn, small_gauge, expect_error):
    expect_error(staghorn("smooth", "--gauge", small_gauge, "--method", "landau", "--device", "cuda"), 1, "--device: expected auto or cpu for --method landau")
