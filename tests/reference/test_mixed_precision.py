"""Mixed precision gives the answer of double precision, in about as many iterations, and certifies what it gives."""

from __future__ import annotations

import json

import pytest
from solve_files import assert_iterated_in

pytestmark = pytest.mark.reference


def solve(staghorn, folder, gauge, mass, *options):
    path = folder / "report.json"
    staghorn("solve", "--gauge", gauge, "--mass", mass, "--report", path, "--force", *options, check=True)
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def double_iterations(staghorn, reference_data, tmp_path_factory):
    """Reports of solves in fp64, each made once: double_iterations(mass, *options)."""
    folder, found = tmp_path_factory.mktemp("double"), {}

    def report(mass, *options):
        if (mass, *options) not in found:
            found[mass, *options] = solve(staghorn, folder, reference_data / "lat.sample.l8888", mass, "--sloppy", "none", *options)
        return found[mass, *options]

    return report


SOURCES = {"even": ("--source", "point:0,0,0,0"), "odd": ("--source", "point:1,0,0,0"), "both": ("--source", "gaussian:3"),
           "odd-system": ("--source", "gaussian:3", "--system", "odd")}


@pytest.mark.parametrize("mass", [1, 0.1, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("links", [18, 12, 8])
@pytest.mark.parametrize("sloppy", ["fp32", "fp16"])
def test_mixed_precision_takes_few_more_iterations(staghorn, reference_data, tmp_path, double_iterations, mass, source,
                                                   links, sloppy):
    gauge = reference_data / "lat.sample.l8888"
    double = double_iterations(mass, *SOURCES[source])
    mixed = solve(staghorn, tmp_path, gauge, mass, *SOURCES[source], "--sloppy", sloppy, "--sloppy-links", links)
    assert mixed["outcome"] == "certified" and mixed["sloppy"] == sloppy and mixed["sloppy_links"] == links
    for one, two in zip(double["rhs"], mixed["rhs"]):
        assert two["iterations"] <= 1.1 * one["iterations"]
        assert two["norm2"] == pytest.approx(one["norm2"], rel=1e-7)
        assert_iterated_in(sloppy, two, one)
    assert (mixed["loop"] == "host") == (not mixed["device"].startswith("cuda"))
    # At the smallest mass fixed point may stagnate near the end: iterations in fp64 follow then.
    assert mixed["precise_loop"] is None or (mass, sloppy) == (0.001, "fp16")


@pytest.mark.parametrize("sloppy, more", [("fp32", 1.25), ("fp16", 1.4)])
@pytest.mark.parametrize("name", ["lat.sample.l8888", "lat.sample.l4448", "GF_555_6.1"])
def test_mixed_precision_reaches_1e_12(staghorn, reference_data, tmp_path, name, sloppy, more):
    report = solve(staghorn, tmp_path, reference_data / name, 0.05, "--sloppy", sloppy, "--tolerance", 1e-12)
    assert report["outcome"] == "certified"
    assert all(rhs["residual_true"] <= 1e-12 for rhs in report["rhs"])
    # the worst conditioned of them needs more: rounding makes CG forget which directions it has searched
    double = solve(staghorn, tmp_path, reference_data / name, 0.05, "--sloppy", "none", "--tolerance", 1e-12)
    for one, two in zip(double["rhs"], report["rhs"]):
        assert_iterated_in(sloppy, two, one)
        assert two["iterations"] <= more * one["iterations"]


def test_fixed_point_that_stagnates_goes_on_in_double_precision(staghorn, reference_data, tmp_path):
    report = solve(staghorn, tmp_path, reference_data / "GF_555_6.1", 0.001, "--sloppy", "fp16", "--tolerance", 1e-12,
                   "--color", 0)
    assert report["outcome"] == "certified" and report["rhs"][0]["residual_true"] <= 1e-12
    assert report["precise_loop"] and (report["precise_loop"] == "host") == (not report["device"].startswith("cuda"))


def test_answers_do_not_come_in_fixed_point(staghorn, reference_data):
    result = staghorn("solve", "--gauge", reference_data / "lat.sample.l4448", "--mass", 0.1, "--precision", "fp16")
    assert result.returncode == 2 and "--sloppy fp16" in result.stderr


def test_sloppy_precision_must_lie_below(staghorn, reference_data):
    gauge = reference_data / "lat.sample.l4448"
    for options in (["--precision", "fp32", "--sloppy", "fp32"], ["--precision", "fp32", "--sloppy", "fp16"],
                    ["--sloppy", "fp64"], ["--precision", "fp32", "--sloppy-links", 12]):
        result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, *options)
        assert result.returncode == 2 and "sloppy" in result.stderr
