"""The certificate on a GPU: the bits of the host's plain operator, on every process grid, and at a few per cent of a solve."""

from __future__ import annotations

import json
from math import prod

import pytest

pytestmark = pytest.mark.gpu

CANNOT_RUN = 77


@pytest.mark.parametrize("grid", [(1, 1, 1, 1), (1, 1, 1, 2), (2, 1, 2, 1), (1, 3, 1, 1), (1, 1, 2, 2)], ids=str)
@pytest.mark.parametrize("boundary", ["periodic,periodic,periodic,antiperiodic", "0.3,antiperiodic,-0.5,0.125"])
def test_plain_path_on_a_gpu_has_the_bits_of_the_host(run_built, grid, boundary):
    result = run_built("device_certificate", 4, 6, 8, 8, *grid, boundary, ranks=prod(grid), timeout=600)
    if result.returncode == CANNOT_RUN:
        pytest.skip("no GPU")
    assert result.returncode == 0 and "all the same" in result.stdout, result.stdout + result.stderr
    fits = all(extent // cuts >= 4 for extent, cuts in zip((4, 6, 8, 8), grid))
    assert ("improved quarks: compared" in result.stdout) == fits


def solve(staghorn, folder, gauge, *options):
    """The report of a solve, and its summary."""
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda", "--report", folder / "report.json", "--force",
                      *options)
    assert result.returncode in (0, 3), result.stderr
    return json.loads((folder / "report.json").read_text()), result.stdout


def test_report_and_summary_say_where_it_was_certified(staghorn, tmp_path, small_gauge):
    found = {place: solve(staghorn, tmp_path, small_gauge, "--certificate", place) for place in ("auto", "host", "device")}
    assert {place: report["certificate"] for place, (report, _) in found.items()} == {"auto": "device", "host": "host", "device": "device"}
    assert "certified on the GPU" in found["device"][1] and "certified on the GPU" not in found["host"][1]
    host, device = (found[place][0] for place in ("host", "device"))
    assert host["rhs"] == device["rhs"]
    for name in ("device_certificate", "certificate_vectors"):
        assert device["memory_bytes"][name] == device["predicted_memory_bytes"][name]
    assert device["memory_bytes"]["device_certificate"] > 0 == device["memory_bytes"]["certificate_vectors"]


def test_device_says_no_as_the_host_does(staghorn, tmp_path, small_gauge):
    """A pass that ends early is not certified, with the same residual."""
    found = [solve(staghorn, tmp_path, small_gauge, "--certificate", place, "--max-iterations", 3)[0] for place in ("host", "device")]
    assert [report["outcome"] for report in found] == ["out_of_iterations"] * 2
    assert found[0]["rhs"] == found[1]["rhs"]
