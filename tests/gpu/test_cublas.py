"""The cuBLAS baseline: the same certified answers and iteration counts as the fused loop, to rounding."""

from __future__ import annotations

import json
import os

import pytest

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("cublas") / "hot.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


@pytest.fixture(scope="module", autouse=True)
def cublas(staghorn, gauge):
    result = staghorn("solve", "--gauge", gauge, "--mass", 5, "--device", "cuda", "--blas", "cublas")
    if "cuBLAS: expected" in result.stderr:
        pytest.skip("no cuBLAS on this machine")


def solve(staghorn, folder, gauge, blas, *options):
    report = folder / f"{blas}.json"
    staghorn("solve", "--gauge", gauge, "--mass", 0.05, "--sloppy", "none", "--device", "cuda", "--blas", blas, "--report", report,
             "--force", *options, check=True)
    return json.loads(report.read_text())


@pytest.mark.parametrize("system", ["full", "even"])
@pytest.mark.parametrize("n_rhs", [1, 3])
@pytest.mark.parametrize("links", [18, 12])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_baseline_is_certified_after_as_many_iterations(staghorn, tmp_path, gauge, precision, links, n_rhs, system):
    options = ("--precision", precision, "--links", links, "--source", "gaussian:5", "--noise-vectors", n_rhs,
               "--system", system)
    fused, cublas = (solve(staghorn, tmp_path, gauge, blas, *options) for blas in ("fused", "cublas"))
    assert (fused["blas"], cublas["blas"]) == ("fused", "cublas") and cublas["provenance"]["cublas"]
    assert fused["loop"] in ("one kernel", "two kernels") and cublas["loop"] == "cublas"
    tolerance = cublas["tolerance"]
    for a, b in zip(fused["rhs"], cublas["rhs"], strict=True):
        assert b["outcome"] == "certified" and b["residual_true"] <= tolerance
        assert b["iterations"] == pytest.approx(a["iterations"], rel=0.01, abs=1)
        # A is at least 4m^2, so the solutions differ by at most |b| tolerance / 4m^2, and less in their norm.
        assert b["norm2"] == pytest.approx(a["norm2"], rel=100 * tolerance)


def test_a_column_that_is_done_freezes(staghorn, tmp_path, gauge):
    """Three colours of a point source end at different iterations; each has the count that it has alone, or one off."""
    together = solve(staghorn, tmp_path, gauge, "cublas", "--source", "point:0,0,0,0")
    for color in range(3):
        alone = solve(staghorn, tmp_path, gauge, "cublas", "--source", "point:0,0,0,0", "--color", color)
        assert together["rhs"][color]["iterations"] == pytest.approx(alone["rhs"][0]["iterations"], abs=1)


def test_bench_reports_the_baseline_beside_the_fused_loop(staghorn, tmp_path):
    staghorn("bench", "cg", "--lattice", 8, 8, 8, 8, "--device", "cuda", "--seconds", 0.05, "--precision", "fp64",
             "--links", 18, "--json", tmp_path / "b.json", check=True)
    rows = json.loads((tmp_path / "b.json").read_text())["results"]
    assert [row["what"] for row in rows] == ["cg iteration", "cg iteration, cublas"]
    assert rows[0]["loop"] in ("one kernel", "two kernels") and rows[1]["loop"] == "cublas"


def test_missing_library_is_named_and_only_the_baseline_needs_it(staghorn, tmp_path, gauge):
    """Four bytes that are no library stand first in the search path under every name."""
    for name in ("libcublas.so.13", "libcublas.so.12", "libcublas.so"):
        (tmp_path / name).write_bytes(b"none")
    environment = {"LD_LIBRARY_PATH": f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    options = ("solve", "--gauge", gauge, "--mass", 0.5, "--device", "cuda")
    result = staghorn(*options, "--blas", "cublas", env=environment)
    assert result.returncode == 1 and "cuBLAS" in result.stderr and "libcublas.so.12" in result.stderr
    assert staghorn(*options, env=environment).returncode == 0
