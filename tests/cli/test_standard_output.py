"""What is asked for on standard output comes there alone, or is refused by name."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture(scope="module")
def printed(staghorn, rough_gauge):
    """What `solve --report -` prints."""
    return staghorn("solve", "--gauge", rough_gauge, "--mass", 0.5, "--color", 0, "--report", "-", check=True).stdout


def test_report_on_standard_output_is_json_and_nothing_else(printed):
    report = json.loads(printed)
    assert report["outcome"] == "certified" and report["mass"] == 0.5


def test_report_is_printed_where_the_solve_falls_short(staghorn, rough_gauge):
    result = staghorn("solve", "--gauge", rough_gauge, "--mass", 0.5, "--max-iterations", 2, "--report", "-")
    assert result.returncode == 3 and json.loads(result.stdout)["outcome"] == "out_of_iterations"


def test_numbers_of_a_report_have_no_digit_too_many(printed):
    """Each number is the shortest that gives the same double back."""
    def digits(number):
        return len(number.split("e")[0].replace(".", "").strip("-0"))

    numbers = re.findall(r"(?<=[ \[])-?\d+\.\d+(?:e-?\d+)?|-?\d+e-\d+", re.sub(r'"[^"]*"', '""', printed))
    assert len(numbers) > 50
    assert not [number for number in numbers if digits(number) > digits(repr(float(number)))]


def test_numbers_of_a_header_have_no_digit_too_many(staghorn, rough_gauge):
    stored = json.loads(staghorn("inspect", rough_gauge, "--json", check=True).stdout)["header"]["plaquette"]
    assert stored == repr(float(stored))


@pytest.mark.parametrize("arguments", [
    ["solve", "--gauge", "GAUGE", "--mass", 1, "--output", "-"], ["convert", "GAUGE", "-", "--format", "nersc"],
    ["generate", "--lattice", "4x4x4x4", "--output", "-"],
    ["smear", "--gauge", "GAUGE", "--action", "hisq", "--fat", "-", "--long", "l"],
], ids=lambda arguments: arguments[0])
def test_binary_files_on_standard_output_are_refused(staghorn, rough_gauge, expect_error, tmp_path, arguments):
    words = [rough_gauge if word == "GAUGE" else word for word in arguments]
    result = staghorn(*words, cwd=tmp_path)
    expect_error(result, 1, "output file", "'-', standard output")
    assert not list(tmp_path.iterdir())
