"""Categories of errors: one table for C++, C, Python and the documents; each door says the category."""

from __future__ import annotations

import json
import pickle
import re

import pytest
from program_under_test import ROOT
from staghorn import errors

PAGE = (ROOT / "docs" / "guide" / "troubleshooting.md").read_text()


def text_of(path: str) -> str:
    return (ROOT / path).read_text()


def test_table_of_the_page_is_that_of_python_c_and_cpp():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| `(\w+)`(?:, an? `(\w+)`)? \| `STAGHORN_E_(\w+)` \|$", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(errors.CLASSES)
    for name, words, made, base, status in rows:
        found = errors.CLASSES[name]
        assert found.__name__ == made and status == name.upper()
        assert found.__doc__.rstrip(".").lower() == words.lower()
        assert [one.__name__ for one in found.__bases__] == ["Error", base] if base else ["Error"]
    kinds = re.search(r"enum class ErrorKind \{(.*?)\}", text_of("halo/watch/error.hpp"))[1].split(", ")
    names = re.findall(r'"(\w+)"', text_of("halo/watch/error_kind.hpp").split("namespace")[1])
    assert [kind.strip() for kind in kinds] == names and sorted(names) == sorted(errors.CLASSES)
    assert set(re.findall(r"STAGHORN_E_(\w+) = -", text_of("solver/interface/staghorn.h"))) == {name.upper() for name in names}


def test_exit_statuses_of_the_page_are_those_of_the_program():
    numbers = re.findall(r"exit_\w+ = (\d)", text_of("solver/program/commands.hpp"))
    assert re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE) == numbers


@pytest.mark.parametrize("kind", errors.CLASSES)
def test_an_error_is_of_the_class_of_its_category(kind):
    error = errors.Error("lattice: expected even extents, found 3", kind)
    assert type(error) is errors.CLASSES[kind] and error.kind == kind and isinstance(error, RuntimeError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.kind == kind and str(again) == str(error)
    assert errors.CLASSES[kind]("words").kind == kind


def test_choices_are_answered_by_the_closest():
    with pytest.raises(ValueError, match=r"sloppy: expected fp32 or fp16, found 'fp23'\. Did you mean 'fp32'\?"):
        errors.choice("sloppy", "fp23", {"fp32": 1, "fp16": 2})
    with pytest.raises(errors.ArgumentError, match=r"found 'x'$"):
        errors.choice("sloppy", "x", {"fp32": 1, "fp16": 2})


def test_every_door_of_python_says_the_category(small_gauge, program, tmp_path):
    staghorn = pytest.importorskip("staghorn")
    pytest.importorskip("staghorn._native", reason="the Python package is not built")
    with pytest.raises(errors.FileError, match="no-file: cannot be read"):
        staghorn.Session(tmp_path / "no-file")
    with pytest.raises(errors.InputError, match=r"precision: expected fp64 or fp32, found 'fp46'\. Did you mean 'fp64'\?"):
        staghorn.Session(small_gauge, precision="fp46")
    with pytest.raises(errors.LayoutError, match="grid 2x1x1x1: expected 1 processes"):
        staghorn.Session(small_gauge, grid=(2, 1, 1, 1))
    with pytest.raises(errors.LayoutError):
        staghorn.Context((4, 4, 4, 5))
    damaged = bytearray(small_gauge.read_bytes())
    damaged[5000] ^= 1
    (tmp_path / "damaged.h5").write_bytes(damaged)
    with pytest.raises(errors.FileError, match=r"`verify=False` reads"):
        staghorn.read_gauge(tmp_path / "damaged.h5")
    # The C interface reads files for Context.
    with pytest.raises(errors.FileError, match="no-file: cannot be read"):
        staghorn.Context(tmp_path / "no-file")
    for missing in (tmp_path / "no-file", tmp_path):
        with pytest.raises(OSError, match="cannot be read|expected a file, found a directory"):
            staghorn.read_gauge(missing)
    with pytest.raises(errors.InputError, match="output_format|format"):
        staghorn.write_gauge(tmp_path / "links.h5", staghorn.read_gauge(small_gauge)[0], format="no-format")


@pytest.mark.parametrize("options, category, words", [
    (["--gauge", "no-file"], "file", "no-file: cannot be read"),
    (["--gauge", "GAUGE", "--grid", "2,1,1,1"], "layout", "process grid"),
    (["--gauge", "GAUGE", "--source", "file:no-source"], "file", "no-source"),
    (["--gauge", "GAUGE", "--output", "."], "file", "expected the name of a file to write, found a directory"),
    (["--gauge", "GAUGE", "--eigenvectors", "no-pairs"], "file", "no-pairs"),
    (["--gauge", "GAUGE", "--device", "cuda:99"], "device", "device"),
])
def test_report_on_standard_output_says_the_category(staghorn, small_gauge, options, category, words, tmp_path):
    options = [small_gauge if word == "GAUGE" else word for word in options]
    result = staghorn("solve", "--mass", 0.5, "--report", "-", *options, cwd=tmp_path)
    report = json.loads(result.stdout)
    assert result.returncode == 1 and report["outcome"] == "error" and report["category"] == category
    assert words in report["explanation"] and report["explanation"] in result.stderr
