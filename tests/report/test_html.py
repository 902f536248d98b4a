"""`staghorn report`: one page that stands alone, with the values of its reports, and no page of anything else."""

from __future__ import annotations

import json
import re
import statistics
from html.parser import HTMLParser
from pathlib import Path

import pytest

VOID = {"meta", "br", "path", "link", "img"}


class Page(HTMLParser):
    """The text of every table cell and heading, the JSON inside, and whether all tags close in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.reports: dict[str, dict] = {}
        self.text = ""
        self.named = ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert not {"src", "href"} & values.keys(), "something is loaded"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "script":
            assert values["type"] == "application/json"
            self.named = values["data-name"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.reports[self.named] = json.loads(data)
            return
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    def row(self, head: str) -> list[str]:
        return next(row[1:] for row in self.rows if row and row[0] == head)


@pytest.fixture
def page(staghorn, made, tmp_path):
    """page(*names) -> the page of these reports, as text."""
    def make(*names: str) -> str:
        output = tmp_path / "page.html"
        staghorn("report", *[f"{name}.json" for name in names], "-o", output, "--force", cwd=made.folder, check=True)
        return output.read_text()

    return make


def shown(value: float) -> str:
    return f"{value:.6g}"


@pytest.mark.mpi
def test_a_page_has_the_values_of_its_report_and_loads_nothing(page, made):
    text, report = page("point"), made.reports["point"]
    found = Page(text)
    assert not re.search(r"https?:|url\(|@import", text) and text.startswith("<!doctype html>")
    assert found.reports == {"point.json": report}
    assert found.row("outcome") == ["certified"] and found.row("mass") == ["0.5"] and found.row("lattice") == ["4x6x8x10"]
    assert found.row("plaquette") == [shown(report["gauge"]["plaquette"])]
    for number, rhs in enumerate(report["rhs"]):
        assert found.row(str(number)) == [str(rhs["color"]), "certified", str(rhs["iterations"]),
                                          *[shown(rhs[key]) for key in ("residual_iterated", "residual_true", "residual_hq", "attainable", "norm2")]]
    assert found.row("solve") == [shown(report["seconds"]["solve"]) + " s"]
    assert found.row("vectors") == [shown(report["memory_bytes"]["vectors"] * 1e-6) + " MB"]
    assert found.row("vectors, predicted") == [shown(report["predicted_memory_bytes"]["vectors"] * 1e-6) + " MB"]
    assert found.row("version") == [report["provenance"]["version"]]
    # (16 R + 55 n) w bytes a site of one parity, here 16 x 12 + 54 x 3 reals of 4 bytes, for three right-hand sides.
    rate = report["site_iterations_per_second"] / 3 / 2 * (16 * 12 + 54 * 3) * 4e-9
    assert float(found.row("GB/s of the iterations, at least")[0]) == pytest.approx(rate, rel=1e-5)


@pytest.mark.mpi
def test_histories_are_drawn_whole(page, made):
    """A curve for each right-hand side, with a point for each iteration, and a cross for each recomputed residual."""
    text, report = page("point"), made.reports["point"]
    svg = text[text.index("Residuals</h2>"):]
    svg = svg[:svg.index("</svg>")]
    curves = re.findall(r'class="line c0" d="([^"]+)"', svg)
    assert [curve.count("L") for curve in curves] == [rhs["iterations"] for rhs in report["rhs"]]
    assert svg.count('class="mark') == 3 and svg.count("dashed") == 1
    heights = [float(point.split()[1]) for point in re.split("[ML]", curves[0])[1:]]
    history = report["rhs"][0]["history"]
    assert (heights[-1] - heights[0] > 0) == (history[-1] < history[0]) and sorted(heights) == pytest.approx(heights, abs=3)


@pytest.mark.mpi
def test_residuals_of_noise_begin_at_one(page, made):
    report = made.reports["noise"]
    starts = [rhs["history"][0] for rhs in report["rhs"]]
    assert min(starts) > 1 + 1e-3
    text = page("noise", "point")
    svg = text[text.index("Residuals</h2>"):]
    svg = svg[:svg.index("</svg>")]
    first = {float(re.match(r"M[\d.]+ ([\d.]+)", curve)[1]) for curve in re.findall(r'class="line c\d" d="([^"]+)"', svg)}
    assert len(first) == 1, "all curves begin at the height of 1"
    assert svg.count("dashed") == 1 + len(set(starts)) and "is divided by its first value" in text
    assert "is divided by its first value" not in page("point")


@pytest.mark.mpi
def test_what_there_was_none_of_has_no_row(page):
    found = Page(page("point"))
    heads = [row[0] for row in found.rows if row]
    assert "hop_wait" not in heads and "0 s" not in found.text and "0 MB" not in found.text
    assert heads.index("read") < heads.index("solve") < heads.index("certify")
    assert found.row("boundary") == ["periodic, periodic, periodic, antiperiodic"]


@pytest.mark.mpi
def test_a_plot_without_a_curve_is_left_out(page, made):
    """The record of several configurations keeps no histories."""
    assert not made.reports["campaign"]["configurations"][0]["report"]["rhs"][0]["history"]
    assert "Residuals" not in Page(page("campaign")).text and "Residuals" in Page(page("campaign", "point")).text


@pytest.mark.mpi
def test_every_source_and_mass_has_its_observables(page, made):
    noise, point = made.reports["sources"]["sources"]
    text = page("sources", "masses", "noise")
    found = Page(text)
    assert found.row("chiral condensate, z2:1") == [shown(noise["condensate"]["value"]), "-", "-"]
    of_noise = made.reports["noise"]["condensate"]
    assert found.row("chiral condensate") == ["-", "-", f"{shown(of_noise['value'])} +- {shown(of_noise['error'])}"]
    assert found.row("noise vectors") == ["-", "-", "2"] and found.row("noise vectors, z2:1") == ["1", "-", "-"]
    svg = text[text.index("Observables</h2>"):]
    curves = re.findall(r'class="line c(\d)" d="([^"]+)"', svg[:svg.index("</svg>")])
    assert [color for color, _ in curves] == ["0", "1", "1"] and len(point["pion_correlator"]) == 1 + curves[0][1].count("L")


@pytest.mark.mpi
def test_a_page_draws_the_first_mesons_and_baryons(page, made):
    text = page("masses")
    mesons, baryons = (made.reports["masses"][kind] for kind in ("mesons", "baryons"))
    assert (len(mesons), len(baryons)) == (8, 2)
    begin, end = text.index("6 of 8 mesons"), text.index("2 of 2 baryons")
    drawn = [re.findall(r'class="line c(\d)" d="([^"]+)"', text[at:text.index("</svg>", at)]) for at in (begin, end)]
    assert [len(curves) for curves in drawn] == [6, 2] and all(len(re.findall("[ML]", curve)) == 10 for _, curve in drawn[0])
    for label in ("pion5, m = 0.5/0.5, point:0,0,0,0", "rhox p100, m = 0.5/0.7, point:0,0,0,0"):
        assert label in text[begin:end]
    assert "delta, m = 0.7/0.7/0.7" in text[end:]
    assert "of 8 mesons" not in page("point")


@pytest.mark.mpi
def test_reports_of_all_kinds_stand_side_by_side(page, made):
    names = [name for name, kind in made.kinds.items() if kind not in ("certify", "smooth", "coarse")]
    found = Page(page(*names))
    assert list(found.reports.values()) == [made.reports[name] for name in names]
    solves = [name for name in names if made.kinds[name] == "solve"]
    assert found.text.count("|b - A x| / |b|") == 1 and found.text.count("|b - M x| / |b|") == len(solves)  # one is of an even system, one of the campaign
    # The configurations of a campaign have no columns, but a table of their own.
    assert found.row("outcome") == [made.reports[name]["outcome"] for name in solves]
    assert "campaign.json failed" in found.text and made.reports["campaign"]["configurations"][1]["error"] in found.text
    assert "UNVERIFIED" not in found.text and made.reports["short"]["explanation"] in found.text
    results = made.reports["hop"]["results"]
    rows = [row for row in found.rows if row[0] == "hop" and row[1] == "fp64"]
    assert [row[5] for row in rows][:len(results)] == [shown(result["gflops"]) for result in results]
    assert all(row[8] == ("of a cache" if result["in_cache"] else "") for row, result in zip(rows, results))
    assert any(row[0] == "communication" for row in found.rows), "the phases of the solve on two ranks"


def test_words_from_files_are_text(staghorn, made, tmp_path):
    """Names and values cannot become tags."""
    report = {**made.reports["point"], "explanation": "<script>alert(1)</script> & \"more\""}
    (tmp_path / "a<b>.json").write_text(json.dumps(report))
    text = staghorn("report", "a<b>.json", "-o", "-", cwd=tmp_path, check=True).stdout
    found = Page(text)
    assert found.reports == {"a<b>.json": report} and report["explanation"] in found.text


@pytest.mark.parametrize("content, said", [
    ("{\"outcome\": \"cert", "breaks off at byte"), ("[1, 2]", "array"), ("{\"outcome\": \"certified\"}", "other keys"), ("", "breaks off"),
    ("\x00\x01", "breaks off")], ids=["cut", "list", "keys", "empty", "binary"])
def test_what_is_no_report_is_refused(staghorn, expect_error, tmp_path, content, said):
    (tmp_path / "r.json").write_text(content)
    result = staghorn("report", "r.json", "-o", "r.html", cwd=tmp_path)
    expect_error(result, 1, "r.json", "a report of staghorn solve, eigen or bench", said)
    assert not (tmp_path / "r.html").exists()


def test_other_versions_and_wrong_values_are_refused(staghorn, expect_error, made, tmp_path):
    for change, said in (({"schema_version": 2}, "schema_version 1"), ({"tolerance": "small"}, "other keys"),
                         ({"pion_correlator": ["a"]}, "report.schema.json")):
        (tmp_path / "r.json").write_text(json.dumps({**made.reports["point"], **change}))
        expect_error(staghorn("report", "r.json", "-o", "r.html", cwd=tmp_path), 1, said)


def test_files_are_not_replaced_unasked(staghorn, expect_error, made, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    expect_error(staghorn("report", made.folder / "point.json", "-o", tmp_path / "r.html"), 1, "r.html exists", "--force")
    source = made.folder / "point.json"
    expect_error(staghorn("report", source, "--output", source, "--force"), 2, "would be read and replaced")
    expect_error(staghorn("report", tmp_path / "absent.json", "-o", tmp_path / "x.html"), 1, "absent.json")
    assert (tmp_path / "r.html").read_text() == "mine"


def test_python_makes_the_same_page(program, page, made, tmp_path):
    if not (program.parent / "python" / "staghorn").is_dir():
        pytest.skip("the Python package is not built")
    pytest.importorskip("staghorn._native", reason="the compiled Python module is not built")
    import staghorn

    ours = staghorn.html_report(made.reports["point"], tmp_path / "p.html", names=["point.json"])
    assert ours == page("point") == (tmp_path / "p.html").read_text()
    both = Page(staghorn.html_report([made.reports["point"], staghorn.Report.from_dict(made.reports["masses"])]))
    assert len(both.reports) == 2 and both.row("outcome") == ["certified", "certified"]
    with pytest.raises(staghorn.Error, match="other keys"):
        staghorn.html_report({"outcome": "certified"})


def test_a_campaign_has_means_with_errors_first_and_its_certificates_folded(staghorn, tmp_path):
    staghorn("generate", "--lattice", "4x4x4x8", "--beta", 5.7, "--sweeps", 12, "--save-every", 4, "--save-as", "q_{n}.h5", "--quiet",
             cwd=tmp_path, check=True)
    staghorn("solve", "--gauge", "q_*.h5", "--masses", "0.2,0.5", "--sources", "wall:0; z2:{n}", "--noise-vectors", 2, "--report", "c.json",
             "--mesons", "pion5", cwd=tmp_path, check=True)
    report = json.loads((tmp_path / "c.json").read_text())
    text = staghorn("report", "c.json", "-o", "-", cwd=tmp_path, check=True).stdout
    found = Page(text)
    sections = re.findall("<h2>(.*?)</h2>", text)
    assert sections == ["Means over configurations", "Configurations", "Machine and provenance"] and found.reports == {"c.json": report}
    parts = [part["report"] for part in report["configurations"]]
    for k, mass in enumerate((0.2, 0.5)):
        values = [part["sources"][2 * k + 1]["condensate"]["value"] for part in parts]
        error = statistics.stdev(values) / 3**0.5
        assert found.row(f"chiral condensate, m = {mass}, z2:{{n}}") == [f"{shown(statistics.fmean(values))} +- {error:.2g}", "3"]
    for n, part in zip((12, 4, 8), parts, strict=True):
        row = found.row(f"q_{n}.h5")
        assert row[0] == "certified" and row[1] == shown(part["gauge"]["plaquette"]) and row[2] == "10"
        assert row[4] == shown(max(rhs["residual_true"] for rhs in part["rhs"]))
    # Two plots, the correlator and its effective mass, with a curve and bars for each mass; the second falls short of T/2.
    plots = re.findall("<svg.*?</svg>", text, re.DOTALL)
    assert len(plots) == 2 and [plot.count('class="line') for plot in plots] == [2, 2]
    curves = [re.findall(r'class="line c\d" d="([^"]+)"', plot) for plot in plots]
    assert [curve.count("V") for plot in curves for curve in plot] == [8, 8, 3, 3]
    folded = text[text.index("<details>"):text.index("</details>")]
    assert folded.count("recomputed in fp64") == 3 and "4 mesons of each configuration" in found.text
