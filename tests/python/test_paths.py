"""Names of files from Python: str with the bytes of os.fsdecode, bytes, and paths of pathlib, wherever a name is taken."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import staghorn as sh

WAYS = {"str": os.fsdecode, "bytes": os.fsencode, "Path": lambda path: Path(os.fsdecode(path))}


@pytest.fixture
def gauge(tmp_path, small_gauge):
    path = os.fsencode(tmp_path) + b"/l\xe4.h5"
    shutil.copy(small_gauge, path)
    return path


def beside(path, name):
    return os.path.join(os.path.dirname(path), name)


@pytest.mark.parametrize("way", WAYS)
def test_every_function_takes_such_a_name(way, gauge):
    name = WAYS[way]
    links, info = sh.read_gauge(name(gauge))
    assert info["format"] == "hdf5"
    sh.write_gauge(name(beside(gauge, b"w\xf6.h5")), links)
    session = sh.Session(name(gauge))
    assert session.gauge["file"] == gauge.decode("utf-8", "backslashreplace")
    x, report = session.solve(0.5, "point:0,0,0,0", color=0)
    assert os.fsencode(sh.file_name(report["gauge"]["file"])) == gauge
    source = beside(gauge, b"s\xfc.h5")
    sh.write_vectors(name(source), x)
    assert np.array_equal(sh.read_vectors(name(source))[0], x)
    again, report = session.solve(0.5, b"file:" + source if way == "bytes" else "file:" + os.fsdecode(source))
    assert report["outcome"] == "certified" and os.fsencode(sh.file_name(report["source"])).endswith(source)
    pairs = beside(gauge, b"e\xe4.h5")
    session.eigen(1, tolerance=1e-3, output=name(pairs))
    deflated = sh.Session(name(gauge), eigenvectors=name(pairs)).solve(0.5, "point:0,0,0,0", color=0)[1]
    assert os.fsencode(sh.file_name(deflated["deflation"]["file"])) == pairs
    context = sh.Context(name(gauge))
    assert np.array_equal(context.read_links(name(gauge)), links)
    assert sh.solve(name(gauge), 0.5, "point:0,0,0,0", color=0)[1]["outcome"] == "certified"


@pytest.mark.parametrize("way", WAYS)
def test_campaigns_and_reports_take_such_names(way, gauge):
    name, made = WAYS[way], beside(gauge, b"r\xe4.json")
    done = sh.campaign([name(gauge)], 0.5, "point:0,0,0,0", report=name(made), output=name(beside(gauge, b"x\xe4_{gauge}.h5")))
    assert [os.fsencode(one) for one in done.gauges] == [gauge]
    assert sh.campaign([name(gauge)], 0.5, "point:0,0,0,0", report=name(made),
                       output=name(beside(gauge, b"x\xe4_{gauge}.h5")))["campaign"]["skipped"] == 1
    read = sh.Campaign.read(name(made))
    assert [os.fsencode(one) for one in read.gauges] == [gauge]
    page = sh.html_report(name(made), name(beside(gauge, b"p\xe4.html")))
    assert made.decode("utf-8", "backslashreplace") in page and os.path.exists(beside(gauge, b"p\xe4.html"))


@pytest.mark.parametrize("way", WAYS)
def test_errors_tell_names_that_can_be_printed(way, tmp_path):
    missing = os.fsencode(tmp_path) + b"/\xe4.h5"
    for read in (sh.read_gauge, sh.read_vectors, sh.Session, lambda path: sh.Context(path)):
        with pytest.raises(sh.Error) as error:
            read(WAYS[way](missing))
        assert missing.decode("utf-8", "backslashreplace") in str(error.value)
        str(error.value).encode("utf-8")


def test_names_of_reports_become_those_of_files_again():
    generator = np.random.default_rng(1)
    for _ in range(300):
        name = generator.choice(np.frombuffer(b"\\x\\x5c4e\xe4\xc3\xa4\xe2\x82\xac\xf0\x9f", np.uint8), generator.integers(1, 12)).tobytes()
        text = name.replace(b"\\x", b"\\x5cx").decode("utf-8", "backslashreplace")
        assert os.fsencode(sh.file_name(text)) == name
