"""A solve that takes no time, to hang options on, and the one line that an error consists of."""

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


def error_lines(result) -> list[str]:
    """The program's own lines on stderr (mpirun adds its own)."""
    return [line for line in result.stderr.splitlines() if line.startswith("staghorn: ")]


@pytest.fixture
def expect_error():
    """expect_error(result, status, *words): that exit status, and one message that has all the words."""

    def check(result, status, *words):
        assert result.returncode == status, result.stderr
        lines = error_lines(result)
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("staghorn: error: ")
        missing = [word for word in words if str(word) not in lines[0]]
        assert not missing, (lines[0], missing)

    return check
