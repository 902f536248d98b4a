"""In a kernel of Jupyter: figures show themselves, text plots stand as text, and lines of progress are written over."""

from __future__ import annotations

import json
import os
import sys

import pytest
from program_under_test import ROOT, built_program

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
for package in ("nbclient", "ipykernel", "matplotlib"):
    pytest.importorskip(package, reason=f"{package} is not installed; ./dev test installs it")

CELLS = {
    "solve": f"""import numpy as np, staghorn
from staghorn import plot
gauge = staghorn.Context(path := {str(ROOT / "configs/quenched_8x8x8x16_b5.70.nersc")!r}).read(path)
b = np.zeros((16, 8, 8, 8, 3), complex); b[0, 0, 0, 0, 0] = 1
x, report = gauge.solve(0.1, b, progress=True)""",
    "text": "plot.residual_plot(report)",
    "first": "axes = plot.residuals(report)",
    "second": "axes = plot.times(report)",
    "campaign": "done = staghorn.campaign([path], 0.1, 'z2:1', progress=True)",
    "own": "seen = []\nstaghorn.campaign([path], 0.1, 'z2:1', progress=seen.append)\nprint(len(seen), seen[0].words, seen[1].iteration, seen[-1].words)",
}


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[dict]]:
    """name of a cell -> its outputs."""
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    import notebook

    cells = [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source} for source in CELLS.values()]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return {name: cell["outputs"] for name, cell in zip(CELLS, notebook.run(text, built_program("python"))["cells"])}


def text_of(output: dict) -> str:
    return output["data"]["text/plain"]


def test_every_figure_shows_itself_once(outputs):
    for name in ("first", "second"):
        assert len([output for output in outputs[name] if "image/svg+xml" in output.get("data", {})]) == 1, name


def test_a_text_plot_stands_as_text(outputs):
    (shown,) = outputs["text"]
    assert text_of(shown).count("\n") > 10 and "|b - M x| / |b|" in text_of(shown)


def test_a_line_of_progress_ends_as_the_solve_did(outputs):
    (line,) = outputs["solve"]  # one line, however often it was written over
    assert text_of(line).startswith("certified: 1 right-hand side, ")


def test_a_campaign_shows_its_configurations(outputs):
    (line,) = outputs["campaign"]
    assert text_of(line) == "1 configurations: 1 certified"
    (told,) = outputs["own"]
    count, rest = told["text"].split(" ", 1)
    assert int(count) > 3 and rest.startswith(" 16 ") and "certified" in rest
