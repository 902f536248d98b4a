"""Mesons contracted on a GPU have the bits of the host, on every process grid; without memory there the host contracts."""

from __future__ import annotations

from math import prod

import pytest
from solve_files import solve

pytestmark = pytest.mark.gpu

OPTIONS = ("--action", "hisq", "--masses", "0.4,0.7", "--sources", "point:1,0,3,7; wall:3@GX-GYT+pion05@p100", "--pairs", "0:0,0:1",
           "--mesons", "all,all-local:p120:EO.O.E,all-local:p100,rhox:p001,rhox:p010,pion5:p111:EO", "--tolerance", 1e-8, "--sloppy", "none")


@pytest.fixture(scope="module")
def of_host(staghorn, gauge_to_cut, tmp_path_factory):
    report, _ = solve(staghorn, tmp_path_factory.mktemp("host"), gauge_to_cut, *OPTIONS, "--device", "cpu")
    assert report["mesons_on"] == "host" and len(report["mesons"]) == 2 * 4 * (256 + 2 * 16 + 3)
    return report["mesons"]


@pytest.mark.parametrize("grid", [(1, 1, 1, 1), (1, 1, 1, 2), (2, 1, 2, 1)], ids=str)
def test_mesons_on_a_gpu_have_the_bits_of_the_host(staghorn, gauge_to_cut, of_host, tmp_path, grid):
    report, _ = solve(staghorn, tmp_path, gauge_to_cut, *OPTIONS, "--device", "cuda", "--grid", ",".join(map(str, grid)), ranks=prod(grid))
    assert report["mesons_on"] == "device" and report["device"].startswith("cuda") and report["ranks"] == prod(grid)
    assert report["mesons"] == of_host
    assert any(value[1] for meson in of_host for value in meson["values"]), "imaginary parts too"


def test_mesons_in_the_phases_of_milc_have_the_bits_of_the_host(staghorn, gauge_to_cut, tmp_path):
    found = {}
    for device in ("cpu", "cuda"):
        report, _ = solve(staghorn, tmp_path, gauge_to_cut, "--mass", 0.5, "--source", "corner-wall:2", "--mesons", "all:p110", "--phases", "milc",
                          "--tolerance", 1e-8, "--device", device)
        assert report["mesons_on"] == {"cpu": "host", "cuda": "device"}[device]
        found[device] = report["mesons"]
    assert found["cpu"] == found["cuda"]


def test_without_memory_on_the_gpu_the_host_contracts(staghorn, gauge_to_cut, of_host, tmp_path):
    report, _ = solve(staghorn, tmp_path, gauge_to_cut, *OPTIONS, "--device", "cuda", env={"STAGHORN_GPU_MEMORY": "250000000"})
    assert report["mesons_on"] == "host" and report["device"].startswith("cuda")
    assert report["mesons"] == of_host


def test_currents_are_measured_on_the_host(staghorn, gauge_to_cut, tmp_path):
    found = {}
    for device in ("cpu", "cuda"):
        report, _ = solve(staghorn, tmp_path, gauge_to_cut, "--mass", 0.5, "--source", "point:0,1,2,3", "--action", "hisq", "--mesons",
                          "conserved-t,rhoxsfn,GX-G1", "--tolerance", 1e-8, "--sloppy", "none", "--device", device)
        assert report["mesons_on"] == "host" and report["device"].startswith(device)
        found[device] = report["mesons"]
    assert found["cpu"] == found["cuda"]
