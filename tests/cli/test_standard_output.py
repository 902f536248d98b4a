"""What is asked for on standard output comes there alone, or is refused by name."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from program_under_test import PROGRAM


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


def test_a_terminal_sees_about_how_many_iterations_there_will_be(staghorn, tmp_path):
    """The line of a solve that takes long enough to be seen; its estimates close in on the iterations that it takes."""
    gauge, report = tmp_path / "hot.h5", tmp_path / "report.json"
    staghorn("generate", "--lattice", 8, 8, 8, 8, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 7, "--output", gauge, check=True)
    here, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
    command = [PROGRAM, "solve", "--gauge", gauge, "--mass", 0.001, "--color", 0, "--report", report]
    solve = subprocess.Popen([str(word) for word in command], stdout=terminal, stderr=subprocess.STDOUT)
    os.close(terminal)
    shown = b""
    while True:
        try:
            shown += (more := os.read(here, 65536))
        except OSError:  # the other end is closed
            break
        if not more:
            break
    os.close(here)
    assert solve.wait() == 0, shown
    taken = json.loads(report.read_text())["rhs"][0]["iterations"]
    lines = [(int(done), int(all_of_them)) for done, all_of_them in
             re.findall(rb"iteration +(\d+) of about (\d+)  residual", shown)]
    assert lines, shown
    late = [estimate for done, estimate in lines if done > 0.5 * taken]
    assert late and all(taken / 3 < estimate < 3 * taken for estimate in late)


def test_a_condensate_of_one_noise_vector_has_no_error(staghorn, small_gauge):
    asked = ["solve", "--gauge", small_gauge, "--mass", 0.5, "--source", "z2:1", "--noise-vectors"]
    one, two = (next(line for line in staghorn(*asked, n, check=True).stdout.splitlines() if "Tr M^-1 / V" in line) for n in (1, 2))
    assert "+-" not in one and "(1 noise vector)" in one and " +- " in two and "(2 noise vectors)" in two
