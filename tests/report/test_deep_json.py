"""JSON nested so deeply that a reader's stack would end: every reader says so, and reports of usual depth are read."""

from __future__ import annotations

import json

import pytest
import staghorn as sh

DEPTHS = [200, 100_000]


@pytest.fixture(scope="module")
def report(staghorn, small_gauge, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.json"
    staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--report", path, check=True)
    return path.read_text().rstrip()


def nested(depth, kind):
    return "[" * depth + "]" * depth if kind == "lists" else '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("kind", ["lists", "objects"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_page_of_a_deep_report_is_refused(depth, kind, report, staghorn, expect_error, tmp_path):
    path = tmp_path / "deep.json"
    for content in (report[:-1] + ',"x":' + nested(depth, kind) + "}", nested(depth, kind)):
        path.write_text(content)
        expect_error(staghorn("report", path, "-o", tmp_path / "p.html"), 1, path, "expected a report", "found JSON of more than 100 levels")
        assert not (tmp_path / "p.html").exists()
        with pytest.raises(sh.Error, match=f"{path}: expected a report"):
            sh.html_report(path)


def test_a_report_of_usual_depth_is_read(report, staghorn, tmp_path):
    (tmp_path / "r.json").write_text(report[:-1] + ',"x":' + nested(90, "lists") + "}")
    staghorn("report", tmp_path / "r.json", "-o", tmp_path / "p.html", check=True)


@pytest.mark.parametrize("content, words", [(nested(100_000, "lists"), "more than 100 levels"), ("{", "breaks off at byte"),
                                            ('{"a": 1e999}', "a number that no double holds"), ('{"a": "\xe4"}', "no JSON")],
                         ids=["deep", "cut", "number", "latin-1"])
def test_every_reader_of_json_says_what_is_wrong(content, words, staghorn, small_gauge, expect_error, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(content.encode("latin-1"))
    expect_error(staghorn("report", path, "-o", tmp_path / "p.html"), 1, path, words)
    expect_error(staghorn("plan", "--lattice", "8x8x8x8", "--machine", path), 1, path, words)
    expect_error(staghorn("solve", "--gauge", f"{small_gauge};", "--mass", 0.5, "--color", 0, "--report", path), 1, path, words)
    for read in (sh.Report.read, sh.Campaign.read, sh.html_report, *([] if "1e999" in content else [sh.plot.residual_plot])):
        with pytest.raises(sh.Error, match=str(path)):
            read(path)


def test_python_reads_what_it_should(report, tmp_path):
    (tmp_path / "r.json").write_text(report)
    assert sh.Report.read(bytes(tmp_path / "r.json")).outcome == json.loads(report)["outcome"] == "certified"
    with pytest.raises(FileNotFoundError):
        sh.Report.read(tmp_path / "none.json")
