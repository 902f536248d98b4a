"""A solve that takes no time, to hang options on."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest


@pytest.fixture
def solve(staghorn, small_gauge, tmp_path):
    """solve(*options) -> what `staghorn solve` returned, with .report, .output_path and .report_path.

    A point source, one colour, a large mass; options given later win over these where they are about something else.
    """

    def run(*options, gauge=small_gauge, mass=0.5, name="solve", **keywords):
        output, report = tmp_path / f"{name}.h5", tmp_path / f"{name}.json"
        given = [str(option) for option in options]
        defaults = [] if "--color" in given else ["--color", 0]
        result = staghorn("solve", "--gauge", gauge, "--mass", mass, *defaults, "--output", output, "--report", report,
                          *given, **keywords)
        return SimpleNamespace(returncode=result.returncode, stdout=result.stdout, stderr=result.stderr,
                               output_path=output, report_path=report,
                               report=json.loads(report.read_text()) if report.exists() else None)

    return run
