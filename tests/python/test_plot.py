"""The residual plots show every history, in a terminal of any width and as a PNG."""

from __future__ import annotations

import json

import pytest
from staghorn.plot import main, plot_residuals, residual_plot


@pytest.fixture
def report():
    histories = [[10.0 ** (-n / 20) for n in range(length)] for length in (201, 181)]
    rhs = [{"color": c, "iterations": len(h) - 1, "history": h, "residual_true": h[-1]} for c, h in enumerate(histories)]
    return {"rhs": rhs, "tolerance": 1e-10, "lattice": [8, 8, 8, 16], "mass": 0.05, "precision": "fp64", "links": 18,
            "outcome": "certified"}


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


def test_command_prints_the_plot_and_writes_a_png(report, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert main([str(tmp_path / "report.json"), "--png", str(tmp_path / "r.png"), "--width", "60"]) == 0
    assert "|b - A x|" in capsys.readouterr().out
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    plot_residuals(report, tmp_path / "again.png")
