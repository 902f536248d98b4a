"""Names of files and texts of headers are bytes: what is not UTF-8 is told as \\xNN, and the files are found."""

from __future__ import annotations

import json
import os
import re
import shutil

import h5py
import pytest

LATIN = b"gr\xf6\xdfe"  # "größe" in Latin-1
POINT = ["--mass", 0.5, "--color", 0]
# Halves of characters, characters in too many bytes, halves of UTF-16 pairs, beyond the last character, and good ones beside them.
NAMES = [b"\xe4", b"a\xc3", b"\xc3\xa4\xe4", b"\xc0\xaf", b"\xe0\x80\x80x", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff\xfe", b"\xe2\x82",
         b"\xe2\x82\xac", b"\xf0\x9f\x92\xa9\xf0\x9f\x92", b"literal\\xf6", b"\x80\\xe4\\\xe4"]


def told(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def as_written(name: bytes) -> str:
    """In JSON, where the bytes come back."""
    return told(name.replace(b"\\x", b"\\x5cx"))


def read_back(text: str) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode())


@pytest.fixture
def latin(tmp_path, small_gauge):
    """A folder and a file with names in Latin-1, as os.fsdecode has them."""
    folder = os.fsencode(tmp_path) + b"/" + LATIN
    os.mkdir(folder)
    shutil.copy(small_gauge, folder + b"/l\xe4.h5")
    return os.fsdecode(folder + b"/l\xe4.h5")


@pytest.mark.parametrize("name", NAMES, ids=told)
def test_names_are_told_and_read_back(name, staghorn, small_gauge, expect_error, tmp_path):
    path = os.fsencode(tmp_path) + b"/" + name
    expect_error(staghorn("inspect", os.fsdecode(path)), 1, told(path), "No such file")
    shutil.copy(small_gauge, path)
    found = staghorn("inspect", os.fsdecode(path), "--json", check=True)
    assert json.loads(found.stdout)["file"] == as_written(path) and read_back(json.loads(found.stdout)["file"]) == path
    assert told(path) in staghorn("inspect", os.fsdecode(path), check=True).stdout


def test_solves_report_files_of_any_name(staghorn, latin, tmp_path):
    folder = os.path.dirname(latin)
    solution, report, page = (os.path.join(folder, os.fsdecode(name)) for name in (b"x\xf6.h5", b"r\xf6.json", b"p\xf6.html"))
    staghorn("solve", "--gauge", latin, *POINT, "--output", solution, "--report", report, check=True)
    with open(report, encoding="utf-8") as file:
        made = json.load(file)
    assert read_back(made["gauge"]["file"]) == os.fsencode(latin)
    assert made["outcome"] == "certified"
    printed = staghorn("solve", "--gauge", latin, *POINT, "--report", "-", "--quiet", check=True).stdout
    assert json.loads(printed)["gauge"]["file"] == made["gauge"]["file"]
    with h5py.File(solution) as file:
        assert told(os.fsencode(latin)) in file["solution"].attrs["gauge_file"].decode()
    assert told(os.fsencode(latin)) in staghorn("inspect", solution, check=True).stdout
    again = staghorn("solve", "--gauge", latin, "--mass", 0.5, "--source", f"file:{solution}", "--report", "-", "--quiet", check=True)
    assert os.fsencode(solution) in read_back(json.loads(again.stdout)["source"])
    staghorn("report", report, "-o", page, check=True)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert told(os.fsencode(report)) in text and r"l\xe4.h5" in text


def test_eigenpairs_report_files_of_any_name(staghorn, latin, tmp_path):
    report, pairs = tmp_path / "e.json", os.path.join(os.path.dirname(latin), os.fsdecode(b"p\xe4.h5"))
    staghorn("eigen", "--gauge", latin, "--pairs", 1, "--tolerance", 1e-3, "--output", pairs, "--report", report, check=True)
    assert read_back(json.loads(report.read_text())["gauge"]["file"]) == os.fsencode(latin)
    assert json.loads(staghorn("inspect", pairs, "--json", check=True).stdout)["file"] == as_written(os.fsencode(pairs))


def test_a_campaign_knows_its_files_again(staghorn, latin, tmp_path):
    folder, report, results = os.path.dirname(latin), tmp_path / "r.json", tmp_path / "o.h5"
    shutil.copy(latin, os.path.join(folder, r"l\xe4.h5"))  # a name that looks like the other one
    ask = ["solve", "--gauge", os.path.join(folder, "*.h5"), *POINT, "--report", report, "--results", results,
           "--output", str(tmp_path / "x_{gauge}.h5")]
    staghorn(*ask, check=True)
    first = json.loads(report.read_text())
    names = [read_back(part["gauge"]) for part in first["configurations"]]
    assert names == [os.fsencode(os.path.join(folder, name)) for name in (r"l\xe4.h5", os.path.basename(latin))]
    assert first["campaign"]["skipped"] == 0
    staghorn(*ask, check=True)
    second = json.loads(report.read_text())
    assert second["campaign"]["skipped"] == 2 and len(second["configurations"]) == 2
    assert [part["gauge"] for part in second["configurations"]] == [part["gauge"] for part in first["configurations"]]
    assert sorted(os.listdir(os.fsencode(tmp_path)))[-2:] == [b"x_l\\xe4.h5", b"x_l\xe4.h5"]
    staghorn("report", report, "-o", tmp_path / "page.html", check=True)
    (tmp_path / "page.html").read_text("utf-8")


def test_a_long_campaign_keeps_lines_with_such_names(staghorn, latin, tmp_path):
    """A report beyond 256 KiB is not written anew for each configuration: what has changed is added in lines."""
    folder, report = os.path.dirname(latin), tmp_path / "r.json"
    for k in range(3):
        shutil.copy(latin, os.path.join(os.fsencode(folder), b"l\xe4_%d.h5" % k))
    staghorn("solve", "--gauge", os.path.join(folder, "*.h5"), "--mass", 20, "--source", "z2:1", "--noise-vectors", 400, "--report", report,
             check=True)
    made = json.loads(report.read_text())
    assert report.stat().st_size > 3 << 18 and made["outcome"] == "certified"
    assert sorted(read_back(part["gauge"]) for part in made["configurations"]) == sorted(
        os.path.join(os.fsencode(folder), name) for name in os.listdir(os.fsencode(folder)))


def test_a_checkpoint_of_a_source_of_any_name_is_gone_on_from(staghorn, latin, tmp_path):
    source, state = os.path.join(os.path.dirname(latin), os.fsdecode(b"s\xe4.h5")), tmp_path / "state.h5"
    staghorn("solve", "--gauge", latin, *POINT, "--output", source, check=True)
    ask = ["solve", "--gauge", latin, "--sloppy", "none", "--mass", 0.05, "--source", f"file:{source}", "--checkpoint", state,
           "--checkpoint-every", 0, "--max-iterations", 20]
    ended = staghorn(*ask)
    assert ended.returncode == 3 and state.exists()
    went_on = staghorn(*ask, "--resume", "--report", "-", "--quiet")
    assert went_on.returncode == 3, went_on.stderr
    assert json.loads(went_on.stdout)["checkpoint"]["resumed_iterations"] > 0
    assert json.loads(staghorn("inspect", state, "--json", check=True).stdout)["intact"]


def test_headers_in_latin_1_are_told(staghorn, small_gauge, tmp_path):
    path = tmp_path / "a.nersc"
    staghorn("convert", small_gauge, path, check=True)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATOR = ", b"ENSEMBLE_ID = gr\xf6\xdfe \xc3\xa4\nCREATOR = ", 1))
    assert json.loads(staghorn("inspect", path, "--json", check=True).stdout)["header"]["ENSEMBLE_ID"] == r"gr\xf6\xdfe ä"
    assert r"ENSEMBLE_ID = gr\xf6\xdfe ä" in staghorn("inspect", path, check=True).stdout
    staghorn("convert", path, tmp_path / "b.h5", check=True)
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["links"].attrs["ENSEMBLE_ID"].decode() == r"gr\xf6\xdfe ä"
    staghorn("convert", tmp_path / "b.h5", tmp_path / "c.nersc", check=True)
    assert b"ENSEMBLE_ID = gr\xf6\xdfe \xc3\xa4\n" in (tmp_path / "c.nersc").read_bytes()


def test_progress_and_errors_are_utf8(staghorn, latin, expect_error):
    message = expect_error(staghorn("solve", "--gauge", latin, "--mass", 0.5, "--source", os.fsdecode(b"file:\xe4")), 1, r"\xe4")
    assert "json" not in message
    bad = staghorn("solve", "--gauge", latin, "--mass", 0.5, "--source", os.fsdecode(b"\xe4"))
    assert bad.returncode == 2 and "staghorn: error: " in bad.stderr
