"""docs/guide/report.schema.json names every key of every report, and nothing that is none; the page says what it says."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import report_page
from program_under_test import ROOT

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed; ./dev test installs it")

CONTEXT = """
import json, sys
import numpy as np, staghorn
gauge = staghorn.Context(sys.argv[1]).read(sys.argv[1])
b = np.zeros((10, 8, 6, 4, 3), complex)
b[0, 0, 0, 0, 0] = 1
json.dump(gauge.solve(0.5, b)[1].to_dict(), open(sys.argv[2], "w"))
"""


def faults_of(report: dict, kind: str) -> list[str]:
    """What the schema of that kind says against a report."""
    checker = jsonschema.Draft202012Validator(report_page.schema_of(kind))
    return [f"{fault.json_path}: {fault.message[:200]}" for error in checker.iter_errors(report) for fault in (error.context or [error])]


@pytest.mark.mpi
def test_every_report_is_as_the_schema_says(made):
    assert len(made.reports) >= 13
    found = {name: faults_of(report, made.kinds[name]) for name, report in made.reports.items()}
    assert not {name: faults for name, faults in found.items() if faults}
    whole = jsonschema.Draft202012Validator(report_page.schema())
    assert all(whole.is_valid(report) for report in made.reports.values())
    # The reports are of the kinds that their names say.
    reports = made.reports
    assert reports["noise"]["checkpoint"] and reports["noise"]["sloppy"] == "fp32" and reports["noise"]["condensate"]
    assert reports["eigen"]["checkpoint"]["resumed_calls"] == 0
    assert reports["certify"]["tried"] == 0 and reports["convention"]["convention"]["given_mass_is"] == "2m"
    assert len(reports["flow"]["flow"]) == 3 and reports["landau"]["gauge_fixing"]["sweeps"] > 0
    assert reports["masses"]["multi_shift"] and reports["epsilons"]["multi_shift"]["groups"] and reports["sources"]["batch"]
    assert reports["blocks"]["coarse"]["vectors"] == 2 and len(reports["coarse"]["values"]) == 2
    assert reports["deflated"]["deflation"]["pairs"] == 3 and reports["block"]["improved"] and reports["ranks"]["times"]
    assert reports["short"]["outcome"] == "out_of_iterations" and reports["exchange"]["results"][0]["times"]
    done, failed = reports["campaign"]["configurations"]
    assert done["report"]["outcome"] == "certified" and failed["category"] == "file" and "no-links.h5" in failed["error"]


def seconds_in(value, name="") -> list[float]:
    """All numbers under `seconds` and `..._seconds`."""
    if isinstance(value, dict):
        is_time = name == "seconds"
        return [s for key, inside in value.items() for s in seconds_in(inside, name if is_time else key)]
    if isinstance(value, list):
        return [s for inside in value for s in seconds_in(inside, name)]
    return [value] if isinstance(value, float) and (name == "seconds" or name.endswith("_seconds")) else []


@pytest.mark.mpi
def test_seconds_are_whole_nanoseconds(made):
    """0.0003, not 0.00030000000000000003: sums of times have digits that no clock tells."""
    found = {name: seconds_in(report) for name, report in made.reports.items()}
    assert len(found["ranks"]) > 15 and len(found["eigen"]) > 4 and found["campaign"]
    assert not {name: odd for name, all_of in found.items() if (odd := [s for s in all_of if round(s, 9) != s])}


def test_categories_of_the_schema_are_those_of_errors():
    named = set(re.findall(r"^\| `(\w+)` \|.*STAGHORN_E_", (ROOT / "docs/guide/troubleshooting.md").read_text(), re.MULTILINE))
    parts = report_page.schema()["$defs"]
    of_part = parts["campaign"]["properties"]["configurations"]["items"]["properties"]["category"]["enum"]
    assert set(parts["error"]["properties"]["category"]["enum"]) == set(of_part) - {None} == named and len(named) == 10


def test_what_an_error_prints_is_as_the_schema_says(staghorn, tmp_path):
    import json

    printed = staghorn("solve", "--gauge", "no-file", "--mass", 0.5, "--report", "-", cwd=tmp_path).stdout
    assert not faults_of(json.loads(printed), "error")


def test_reports_of_a_context_in_python_are_too(small_gauge, program, tmp_path):
    """They are those of the C interface."""
    import json
    import os
    import subprocess
    import sys

    package = program.parent / "python"
    if not (package / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    subprocess.run([sys.executable, "-c", CONTEXT, small_gauge, tmp_path / "r.json"], check=True,
                   env={**os.environ, "PYTHONPATH": str(package)})
    report = json.loads((tmp_path / "r.json").read_text())
    assert "residual_parity" in report["rhs"][0] and not faults_of(report, "solve")


@pytest.mark.parametrize("break_it, said", [
    (lambda report: report.update(surprise=1), "surprise"),
    (lambda report: report.pop("certificate"), "certificate"),
    (lambda report: report["rhs"][0].update(iterations="many"), "$.rhs[0].iterations"),
    (lambda report: report["memory_bytes"].update(cakes=3), "cakes"),
    (lambda report: report.update(schema_version=2), "$.schema_version"),
    (lambda report: report.update(outcome="fine"), "$.outcome")], ids=["unknown", "absent", "type", "deep", "version", "word"])
def test_what_is_no_report_is_refused(made, break_it, said):
    report = copy.deepcopy(made.reports["point"])
    break_it(report)
    assert any(said in fault for fault in faults_of(report, "solve"))


def test_every_key_has_words():
    def walk(value, place):
        for key, inner in value.get("properties", {}).items():
            assert inner.get("description"), f"{place}.{key}"
        for key, inner in value.items():
            for one in inner if isinstance(inner, list) else [inner]:
                if isinstance(one, dict):
                    walk(one, f"{place}.{key}")

    walk(report_page.schema(), "$")
    jsonschema.Draft202012Validator.check_schema(report_page.schema())


def test_every_key_that_the_program_can_write_is_there():
    """Keys of cases that no test makes here, on a GPU for one, are found in the source."""
    names = set(re.findall(r'"(\w+)":', report_page.SCHEMA.read_text()))
    sources = [*(ROOT / "solver/report").glob("*.cpp"), ROOT / "solver/bench/bench_report.cpp"]
    written = {key for path in sources if "Json" in path.read_text()
               for key in re.findall(r'json\["(\w+)"\]|\{"(\w+)", [a-z]', path.read_text()) for key in key if key}
    assert len(written) > 100
    assert not written - names


def test_the_page_has_the_tables_of_the_schema():
    """`python tests/report_page.py` writes them."""
    page = report_page.PAGE.read_text()
    assert page.count("| `") > 300 and report_page.written(page) == page
