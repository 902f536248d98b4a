"""`./dev measure`: it reads what the program prints and writes, and judges figures by their bounds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("measure", Path(__file__).parents[1] / "gpu" / "measure.py")
measure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measure)

TINY = (4, 4, 4, 8)


@pytest.fixture
def figures(program, tmp_path):
    return measure.Figures(str(program), tmp_path, device="cpu", seconds=0.01)


def test_figures_are_those_of_the_program(figures):
    figures.bench("hop", TINY, links=(12,), rhs=2)
    figures.bench("cg", TINY, "--blas", "fused", precisions=("fp64",), links=(18, 12))
    hop, cg = measure.Timed("hop", TINY, "fp16", 12, 2), measure.Timed("cg iteration", TINY, "fp64", 12)
    assert figures.us(hop) > 0 and figures.of_stream(hop) > 0 and figures.tflops(hop) > 0
    assert figures.us(cg) > 0
    floor_bytes = (16 * 12 + 60) * 8 * 4 * 4 * 4 * 8 / 2
    assert figures.of_floor(cg) == pytest.approx(floor_bytes / figures.us(cg) * 1e-3 / figures.bench_rows[cg]["stream"])


def test_solves_and_sweeps_are_those_of_the_program(figures, tmp_path):
    figures.generate(TINY, tmp_path / "gauge.h5", 2)
    figures.solve("fp64/fp32 12", tmp_path / "gauge.h5")
    assert figures.sweeps[TINY] > 0
    solved = figures.solves["fp64/fp32 12"]
    assert solved["iterations"] > 10 and solved["updates"] > 0 and solved["us"] > 0


@pytest.mark.parametrize("found, at_least, verdict", [
    (0.95, True, "met"), (0.949, True, "**missed by 0.1%**"), (0.96, False, "**missed by 1.1%**"), (0.9, False, "met"),
    (None, True, "not measured"),
])
def test_a_figure_meets_its_bound_or_says_by_how_much_not(found, at_least, verdict):
    assert measure.Aim("hop", 0.95, found, "{:.1%}", at_least).row()[-1] == verdict


def test_what_was_not_measured_is_said_so(figures):
    shown = measure.tables(figures)
    assert shown.count("not measured") == len(list(measure.aims(figures)))
    assert "| fp64, 12 reals | - |" in shown
