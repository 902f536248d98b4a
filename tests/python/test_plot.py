"""Plots show every history, name what they show, and take reports in every form; figures are files fit for a paper."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from staghorn.errors import Error
from staghorn.plot import terminal
from staghorn.plot.terminal import residual_plot
from staghorn.report import Report


@pytest.fixture
def report():
    histories = [[10.0 ** (-n / 20) for n in range(length)] for length in (201, 181)]
    rhs = [{"color": c, "iterations": len(h) - 1, "history": h, "residual_true": h[-1], "residual_iterated": h[-1],
            "outcome": "certified"} for c, h in enumerate(histories)]
    seconds = {"read": 0.1, "setup": 0.2, "convert": 0.01, "solve": 2.0, "hop_interior": 1.5, "hop_boundary": 0.1, "certify": 0.1,
               "write": 0.3}
    return {"rhs": rhs, "tolerance": 1e-10, "lattice": [8, 8, 8, 16], "mass": 0.05, "precision": "fp64", "links": 18, "ranks": 1,
            "outcome": "certified", "system": "full", "seconds": seconds, "spectrum": {"smallest": 0.01, "largest": 20.4,
                                                                                       "condition": 2040.0},
            "condensate": {"value": 0.25, "error": 0.01, "n_vectors": 4},
            "pion_correlator": [np.cosh(0.5 * (8 - t)) for t in range(16)]}


def with_sloppy(report: dict) -> dict:
    return {**report, "sloppy": "fp16", "sloppy_links": 12}


# --- in a terminal ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 78, 120])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_text_plot_fits_and_falls_from_left_to_right(report, width, ascii_only):
    lines = residual_plot(report, width=width, height=12, ascii_only=ascii_only).splitlines()
    mark = "*" if ascii_only else "•"
    assert max(map(len, lines)) <= width
    first, last = lines[1], lines[-2]
    assert mark in first and mark in last
    assert first.index(mark) < last.rindex(mark)
    assert lines[-1].split() == ["0", "200"]


def test_text_plot_survives_empty_and_zero_histories(report):
    report["rhs"] = [{"history": []}]
    assert "no residual history" in residual_plot(report)
    report["rhs"] = [{"history": [1.0, 0.0]}]
    assert residual_plot(report)


def test_text_plot_shows_itself_at_a_prompt(report):
    plot = residual_plot(report)
    assert repr(plot) == str(plot) and repr(plot).count("\n") > 10


def test_text_plot_names_the_system(report):
    assert "|b - M x|" in residual_plot(report)
    assert "|b - A x|" in residual_plot({**report, "system": "even"})


def test_terminal_needs_neither_numpy_nor_matplotlib(report, tmp_path):
    (tmp_path / "report.json").write_text(json.dumps(report))
    code = ("import runpy, sys\nsys.modules['numpy'] = sys.modules['matplotlib'] = None\n"
            f"sys.argv = ['plot', {str(tmp_path / 'report.json')!r}]\n"
            "runpy.run_module('staghorn.plot', run_name='__main__', alter_sys=True)\n")
    package = Path(terminal.__file__).parents[2]
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180,
                            env={**os.environ, "PYTHONPATH": str(package)})
    assert result.returncode == 0 and "|b - M x| / |b|" in result.stdout, result.stderr


# --- pictures ---------------------------------------------------------------------------------------------------

matplotlib = pytest.importorskip("matplotlib")
import matplotlib.figure  # noqa: E402
from staghorn import plot  # noqa: E402
from staghorn.analysis import Mass  # noqa: E402
from staghorn.plot.__main__ import PICTURES, main  # noqa: E402


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_command_prints_the_plot_and_writes_pictures(report, tmp_path, capsys):
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert main([str(tmp_path / "report.json"), "--png", str(tmp_path / "r.png"), "--width", "60"]) == 0
    assert "|b - M x|" in capsys.readouterr().out
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert main([str(tmp_path / "report.json"), "--what", "times", "--output", str(tmp_path / "t.pdf")]) == 0
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(SystemExit):
        main([str(tmp_path / "report.json"), "--what", "times"])


FORMATS = (("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<?xml"))


def test_every_picture_is_written_and_twice_alike(report, tmp_path):
    several = {**report, "eigenvalues": [0.1, 0.2], "residuals": [1e-9, 1e-9], "stream_read_gb_s": 100.0, "results": [
        {"what": "hop", "precision": "fp64", "links": 18, "rhs": 1, "gflops": 40.0 / n, "gb_s": 88.0 / n, "microseconds": 100.0 / n,
         "ranks": n, "lattice": [8, 8, 8, 16], "local_lattice": [8, 8, 8, 16 // n], "series": "strong"} for n in (1, 2, 4)]}
    for name, function in PICTURES.items():
        for ending, start in FORMATS if name == "residuals" else FORMATS[:1]:
            paths = [tmp_path / f"{name}{k}.{ending}" for k in (1, 2)]
            for path in paths:
                plot.save(getattr(plot, function)(several), path)
            first, second = (path.read_bytes() for path in paths)
            assert first.startswith(start) and len(first) > 2000 and first == second
    with pytest.raises(Error, match="expected a name that ends in .png, .pdf or .svg, found .jpg"):
        plot.save(plot.residuals(report), tmp_path / "r.jpg")


def test_reports_may_be_dicts_reports_or_paths(report, tmp_path):
    (tmp_path / "report.json").write_text(json.dumps(report))
    for form in (report, Report.from_dict(report), tmp_path / "report.json", str(tmp_path / "report.json")):
        lines = plot.residuals(form).get_lines()
        assert np.array_equal(lines[0].get_ydata(), report["rhs"][0]["history"])
    (tmp_path / "no.json").write_text("[1]")
    for bad, words in ((tmp_path / "none.json", "none.json"), (tmp_path / "no.json", "expected a report in JSON"),
                       ([], "expected a report at least"), (7, "not iterable|expected a Report")):
        with pytest.raises((Error, TypeError), match=words):
            plot.residuals(bad)


@pytest.mark.parametrize("system, symbol", [("full", "Mx"), ("even", "Ax"), ("odd", "Ax")])
def test_residual_is_that_of_the_system(report, system, symbol):
    assert symbol in plot.residuals({**report, "system": system}).get_ylabel()
    both = plot.residuals([report, {**report, "system": "even"}]).get_ylabel()
    assert "Mx" not in both and "Ax" not in both


def test_title_names_both_precisions(report):
    assert "fp64/fp16, 18/12 reals a link" in plot.residuals(with_sloppy(report)).get_title(loc="left")
    assert "m = 0.05" in plot.residuals(report).get_title(loc="left")


def test_sixteen_right_hand_sides_keep_their_legend(report):
    report["rhs"] = [{**report["rhs"][0], "iterations": 180 + k, "color": None} for k in range(16)]
    axes = plot.residuals(report)
    texts = legend(axes)
    assert "16 right-hand sides: 180 to 195 iterations" in texts and any("tolerance 1e-10" in text for text in texts)
    assert sum(len(line.get_xdata()) == 201 for line in axes.get_lines()) == 16
    few = legend(plot.residuals({**report, "rhs": report["rhs"][:2]}))
    assert "right-hand side 1: 181 iterations" in few


def test_several_reports_are_told_apart_by_what_differs(report):
    axes = plot.residuals([report, with_sloppy(report)])
    assert any(text.startswith("fp64/fp16, 18/12 reals") for text in legend(axes))
    assert axes.get_title(loc="left") == "8×8×8×16, m = 0.05"
    assert any(text.startswith("first:") for text in legend(plot.residuals([report, report], labels=["first", "second"])))
    with pytest.raises(Error, match="labels: expected 2"):
        plot.residuals([report, report], labels=["one"])


def test_seconds_are_those_of_the_solve(report):
    axes = plot.residuals(report, against="seconds")
    assert axes.get_lines()[0].get_xdata()[-1] == pytest.approx(2.0) and "[s]" in axes.get_xlabel()
    with pytest.raises(Error, match="against: expected iteration or seconds"):
        plot.residuals(report, against="hours")


def test_bars_of_times_add_up(report):
    axes = plot.times([report, with_sloppy(report)])
    widths = [patch.get_width() for patch in axes.patches]
    assert sum(widths) == pytest.approx(2 * (0.1 + 0.2 + 0.01 + 2.0 + 0.1 + 0.3), rel=1e-2)
    assert "CG, other" in legend(axes) and "wait for faces" not in legend(axes)


def test_axes_of_the_caller_are_drawn_into(report):
    ax = plot.new_axes("page")
    assert plot.residuals(report, ax=ax) is ax and plot.pion(report, ax=plot.new_axes()).lines
    with pytest.raises(Error, match="width: expected column or page"):
        plot.residuals(report, width="poster")


def test_settings_of_matplotlib_stay_those_of_the_caller(report):
    before = copy.deepcopy(dict(matplotlib.rcParams))
    plot.residuals(report)
    assert dict(matplotlib.rcParams) == before


def test_roofline_needs_rates_and_draws_the_stream(report):
    rows = [{"what": "hop", "precision": p, "links": 18, "gflops": 40.0, "gb_s": 88.0} for p in ("fp64", "fp32")]
    axes = plot.roofline({"results": rows, "stream_read_gb_s": 100.0})
    roof = axes.get_lines()[0]
    assert np.allclose(roof.get_ydata(), 100 * np.asarray(roof.get_xdata()))
    assert plot.roofline({"results": rows, "stream_read_gb_s": 100.0}, peak_gflops=50).get_lines()[0].get_ydata()[-1] == 50
    assert "hop, fp32" in legend(axes) and "streaming read, 100 GB/s" in legend(axes)
    for bad in (report, {"results": [{"what": "x"}], "stream_read_gb_s": 1.0}):
        with pytest.raises(Error, match="roofline: expected"):
            plot.roofline(bad)


def test_scaling_takes_solves_on_several_numbers_of_ranks(report):
    four = {**report, "ranks": 4, "seconds": {**report["seconds"], "solve": 1.0}}
    axes = plot.scaling([report, four])
    assert np.allclose(axes.get_lines()[0].get_ydata(), [1e4, 5e3]) and any("50 % on 4" in text for text in legend(axes))
    with pytest.raises(Error, match="scaling: expected a lattice on several numbers of ranks"):
        plot.scaling([report, report])


def test_condensates_are_ordered_by_mass(report):
    several = {**report, "masses": [0.2, 0.1], "condensates": [{"value": v, "error": 0.1, "n_vectors": 4} for v in (2.0, 1.0)]}
    axes = plot.condensate([several, report])
    x, y = axes.containers[0].lines[0].get_data()
    assert list(x) == [0.05, 0.1, 0.2] and list(y) == [0.25, 1.0, 2.0]
    with pytest.raises(Error, match="condensate: expected"):
        plot.condensate({**report, "condensate": None})


def test_spectrum_is_of_the_hop_alone(report):
    axes = plot.spectrum(report)
    assert "0.01" not in [text.get_text() for text in axes.texts]  # 4 m^2 = 0.01 is taken off
    values = plot.spectrum(np.array([3.0, 1.0, 2.0])).containers[0].lines[0].get_data()[1]
    assert list(values) == [1, 2, 3]


def noise(report: dict) -> dict:
    """A report of noise: residuals that begin at 20 and 25, and end below the tolerance."""
    histories = [[20.0 * 10 ** (-n / 4) for n in range(49)], [25.0 * 10 ** (-n / 4) for n in range(49)]]
    return {**report, "rhs": [{**report["rhs"][0], "history": h, "iterations": 48, "color": None, "residual_true": h[-1]} for h in histories]}


def test_residuals_of_noise_begin_at_one(report):
    axes = plot.residuals(noise(report))
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 49]
    assert [line.get_ydata()[0] for line in lines] == [1, 1] and "b - Mx_0" in axes.get_ylabel()
    heights = sorted(line.get_ydata()[0] for line in axes.get_lines() if line.get_linestyle() == "--" and len(line.get_ydata()))
    assert heights == pytest.approx([4e-12, 5e-12]) and any("tolerance 1e-10 of" in text for text in legend(axes))
    crosses = [line.get_ydata()[0] for line in axes.get_lines() if line.get_marker() == "x" and len(line.get_ydata())]
    assert crosses == pytest.approx([10.0 ** -12] * 2)
    absolute = plot.residuals(noise(report), relative_to="b")
    assert absolute.get_lines()[0].get_ydata()[0] == 20 and absolute.get_ylabel() == r"$|b - Mx|\,/\,|b|$"
    assert "x_0" not in plot.residuals(report).get_ylabel(), "of a point source both are the same"
    both = plot.residuals([noise(report), {**report, "system": "even"}])
    assert both.get_ylabel() == r"$|r|\,/\,|r_0|$"
    with pytest.raises(Error, match="relative_to: expected start or b"):
        plot.residuals(report, relative_to="x")


def test_text_plot_of_noise_begins_at_one(report):
    lines = residual_plot(noise(report)).splitlines()
    assert "|b - M x0|" in lines[0] and lines[1].startswith(" 1e+00") and "•" in lines[1]


# --- several masses, campaigns, one style -------------------------------------------------------------------------


def several_masses(report: dict, scale: float = 1.0) -> dict:
    """Two masses and two sources: correlators of the wall, condensates of the noise."""
    t = np.arange(16)
    sources = [{"name": name, "first": 0, "n_rhs": 1,
                "pion_correlator": list(scale * np.cosh(4 * mass * (8 - t))) if name == "wall:0" else [],
                "condensate": {"value": scale * mass, "error": 0.01, "n_vectors": 2} if name == "z2:7" else None}
               for mass in (0.1, 0.2) for name in ("wall:0", "z2:7")]
    return {**report, "masses": [0.1, 0.2], "mass": None, "sources": sources, "condensate": None, "pion_correlator": []}


def campaign_of(report: dict) -> dict:
    parts = [{"gauge": f"q_{n}.h5", "outcome": "certified", "report": several_masses(report, scale)} for n, scale in enumerate((0.9, 1.0, 1.1))]
    parts.append({"gauge": "q_9.h5", "outcome": "failed", "report": None})
    return {"outcome": "failed", "campaign": {"masses": [0.1, 0.2], "sources": ["wall:0", "z2:7"], "outcomes": {}}, "configurations": parts}


@pytest.mark.parametrize("several", [lambda report: campaign_of(report),
                                     lambda report: [several_masses(report, scale) for scale in (0.9, 1.0, 1.1)]], ids=["campaign", "reports"])
def test_each_mass_is_a_curve_with_the_configurations_as_samples(report, several, tmp_path):
    axes = plot.effective_masses(several(report))
    assert legend(axes) == ["$am$ = 0.1", "$am$ = 0.2"]
    for container, mass in zip(axes.containers, (0.4, 0.8), strict=True):
        assert container.lines[0].get_ydata() == pytest.approx(mass)
    mean = plot.pion(several(report)).containers[0].lines[0].get_ydata()
    assert mean == pytest.approx(np.cosh(0.4 * (8 - np.arange(16))))
    points = plot.condensate(several(report)).containers[0]
    assert list(points.lines[0].get_ydata()) == pytest.approx([0.1, 0.2])
    assert points.lines[2][0].get_segments()[1][:, 1] == pytest.approx([0.2 - 0.2 * 0.1 / 3**0.5, 0.2 + 0.2 * 0.1 / 3**0.5])
    (tmp_path / "r.json").write_text(json.dumps(campaign_of(report)))
    assert legend(plot.pion(tmp_path / "r.json")) == ["$am$ = 0.1", "$am$ = 0.2"]
    with pytest.raises(Error, match="mass: expected 2, one for each curve, found 1"):
        plot.pion(several(report), mass=Mass(0.4, 0.1, 2, 5, 3))


def test_masses_squared_are_on_a_line(report):
    pions = [Mass((4 * m + 0.01) ** 0.5, 0.001, 2, 5, 3) for m in (0.1, 0.2, 0.3)]
    axes = plot.squared_masses([0.1, 0.2, 0.3], {"pion": pions})
    line = next(line for line in axes.get_lines() if line.get_xdata()[0] == 0)
    assert line.get_ydata()[0] == pytest.approx(0.01) and legend(axes) == ["pion"]
    with pytest.raises(Error, match="masses: expected a list of 2 of pion"):
        plot.squared_masses([0.1, 0.2], {"pion": pions})


def test_spectra_are_logarithmic(report):
    assert plot.spectrum(np.array([1e-4, 1.0])).get_yscale() == "log"
    assert plot.spectrum(np.array([0.0, 1.0])).get_yscale() == "linear"


@pytest.mark.parametrize("name", sorted(set(PICTURES.values())))
def test_one_style_in_axes_of_the_caller_and_no_legend_on_the_data(report, name, tmp_path):
    """Axes made by pyplot look as our own do; a curve has one entry in the legend, which lies outside the axes."""
    rows = [{"what": "hop", "precision": "fp64", "links": 18, "rhs": 1, "gflops": 40.0 / n, "gb_s": 88.0 / n, "microseconds": 100.0 / n,
             "ranks": n, "lattice": [8, 8, 8, 16], "local_lattice": [8, 8, 8, 16 // n], "series": "strong"} for n in (1, 2)]
    given = {**report, "eigenvalues": [0.1, 0.2], "stream_read_gb_s": 100.0, "results": rows}
    axes = matplotlib.figure.Figure(figsize=(6, 4)).add_subplot()
    for drawn in (getattr(plot, name)(given, ax=axes), getattr(plot, name)(given, figsize=(5, 3.5))):
        assert drawn.xaxis.label.get_size() == drawn.yaxis.label.get_size() == 8
        assert {tick.label1.get_size() for tick in drawn.xaxis.get_major_ticks()} == {7}
        assert drawn.spines["left"].get_linewidth() == 0.6
        told = drawn.get_legend()
        if told is not None:
            texts = legend(drawn)
            assert len(texts) == len(set(texts))
            drawn.figure.canvas.draw()
            assert not told.get_window_extent().overlaps(drawn.get_window_extent().padded(-1))
    assert drawn.figure.get_size_inches() == pytest.approx([5, 3.5])
    with pytest.raises(Error, match="figsize: expected width and height"):
        getattr(plot, name)(given, figsize=(0, 1))


def test_an_absent_matplotlib_is_named_with_what_installs_it(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'staghorn\[plot\]'"):
        plot.residuals(report)
