"""`./dev measure`: it reads what the program prints and writes, judges figures by their bounds, and writes docs/performance.md."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import performance_page
import pytest

spec = importlib.util.spec_from_file_location("measure", Path(__file__).parents[1] / "gpu" / "measure.py")
measure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measure)

TINY = (4, 4, 4, 8)


@pytest.fixture
def figures(program, tmp_path):
    return measure.Figures(str(program), tmp_path, device="cpu", seconds=0.01, stream_mib=32)


def test_figures_are_those_of_the_program(figures):
    figures.bench("hop", TINY, links=(12,), rhs=2)
    figures.bench("cg", TINY, "--blas", "fused", precisions=("fp64",), links=(18, 12))
    hop, cg = measure.Timed("hop", TINY, "fp16", 12, 2), measure.Timed("cg iteration", TINY, "fp64", 12)
    assert figures.us(hop) > 0 and figures.of_stream(hop) > 0 and figures.tflops(hop) > 0
    assert figures.us(cg) > 0
    floor_bytes = (16 * 12 + 60) * 8 * 4 * 4 * 4 * 8 / 2
    assert figures.of_floor(cg) == pytest.approx(floor_bytes / figures.us(cg) * 1e-3 / figures.bench_rows[cg]["stream"])


def test_solves_and_sweeps_are_those_of_the_program(figures, tmp_path):
    figures.generate(TINY, tmp_path / "gauge.h5", 2)
    figures.solve("fp64/fp32 12", tmp_path / "gauge.h5")
    assert figures.sweeps[TINY] > 0
    solved = figures.solves["fp64/fp32 12"]
    assert solved["iterations"] > 10 and solved["updates"] > 0 and solved["us"] > 0


def test_further_lattices_are_timed_on_a_gpu_and_shown_with_their_share_of_the_floor(figures, monkeypatch):
    asked = []
    monkeypatch.setattr(figures, "bench", lambda what, lattice, *options, **of: asked.append((what, lattice, of.get("links"))))
    monkeypatch.setattr(figures, "generate", lambda *words: None)
    monkeypatch.setattr(figures, "solve", lambda *words: None)
    measure.measure_gpu(figures)
    assert {(28, 28, 28, 96), (36, 36, 36, 48), (64, 64, 64, 96)} <= {
        lattice for what, lattice, links in asked if what == "cg" and links == (12,)}
    stream, lattice = 100, (36, 36, 36, 48)  # GB/s; each precision takes twice the time of its floor
    sites = 36 * 36 * 36 * 48 / 2
    for precision, size in measure.BYTES.items():
        us = 2 * (16 * 12 + 60) * size * sites / (stream * 1e3)
        figures.bench_rows[measure.Timed("cg iteration", lattice, precision, 12)] = {
            "microseconds": us, "stream": stream, "copy": stream}
    row = next(line for line in measure.tables(figures).splitlines() if line.startswith("| 36x36x36x48 |"))
    assert row.count("| 50 % |") == 3 and "| 28x28x28x96 | - | - |" in measure.tables(figures)


def test_hisq_has_the_floor_of_fat_and_naik_links_and_stays_apart_from_naive(figures, monkeypatch):
    figures.bench("cg", TINY, "--blas", "fused", "--action", "hisq", "--naik-links", "18,13", precisions=("fp64",), links=(18,))
    figures.bench("cg", TINY, "--blas", "fused", precisions=("fp64",), links=(18,))
    naive, hisq = (measure.Timed("cg iteration", TINY, "fp64", 18, naik=naik) for naik in (0, 13))
    assert figures.us(hisq) != figures.us(naive)
    floor_bytes = (8 * 2 * 18 + 8 * 2 * 13 + 60) * 8 * 4 * 4 * 4 * 8 / 2
    assert figures.of_floor(hisq) == pytest.approx(floor_bytes / figures.us(hisq) * 1e-3 / figures.bench_rows[hisq]["stream"])
    kept = performance_page.Figures(json.loads(performance_page.dumps(figures.kept())))
    assert [row.get("naik") for row in kept.data["rows"]] == [18, 13, None]
    assert kept.us("cg iteration", TINY, ("fp64", 18)) == pytest.approx(figures.us(naive), abs=0.01)
    monkeypatch.setattr(measure, "LARGE", TINY)
    assert f"| 18 + 13 reals | {figures.us(hisq):.1f} |" in measure.tables(figures)


@pytest.mark.parametrize("found, at_least, verdict", [
    (0.95, True, "met"), (0.949, True, "**missed by 0.1%**"), (0.96, False, "**missed by 1.1%**"), (0.9, False, "met"),
    (None, True, "not measured"),
])
def test_a_figure_meets_its_bound_or_says_by_how_much_not(found, at_least, verdict):
    assert measure.Aim("hop", 0.95, found, "{:.1%}", at_least).row()[-1] == verdict


def test_what_was_not_measured_is_said_so(figures):
    shown = measure.tables(figures)
    assert shown.count("not measured") == len(list(measure.aims(figures)))
    assert "| fp64, 12 reals | - |" in shown


def test_figures_that_docs_keep_give_the_same_figures_back(figures):
    figures.bench("hop", TINY, precisions=("fp64",), links=(18, 12))
    figures.bench("cg", TINY, "--blas", "fused", precisions=("fp64",), links=(18,))
    kept = performance_page.Figures(json.loads(performance_page.dumps(figures.kept())))
    hop = measure.Timed("hop", TINY, "fp64", 12)
    assert kept.us("hop", TINY, ("fp64", 12)) == pytest.approx(figures.us(hop), abs=0.01)
    assert kept.row("hop", TINY, ("fp64", 12))["of_stream"] == pytest.approx(figures.of_stream(hop), abs=1e-4)
    assert "of_floor" in kept.row("cg iteration", TINY, ("fp64", 18)) and not kept.row("hop", TINY, ("fp32", 12))
    assert kept.data["date"] in kept.caption() and "threads" in kept.caption()


@pytest.mark.mpi
def test_scaling_is_kept_by_number_of_ranks(figures):
    figures.scaling(2, "--lattice", *TINY)
    (fp64, fp32) = figures.kept_of_several()["rows"]
    assert (fp64["series"], fp64["precision"], fp32["precision"]) == ("strong", "fp64", "fp32")
    assert set(fp64["us"]) == {"1", "2"} and min(fp64["us"].values()) > 0
    table = performance_page.several_table({"measurements": [figures.kept_of_several()]})
    assert "| strong, 4x4x4x8, fp64 |" in table and "2 GPUs | efficiency" in table


def test_tables_of_the_page_are_those_of_the_figures():
    page = performance_page.PAGE.read_text()
    assert performance_page.with_tables(page) == page, "run python tests/performance_page.py"


def test_an_older_measurement_gives_what_the_newest_has_not():
    def row(**us):
        return {"series": "strong", "lattice": [4, 4, 4, 8], "precision": "fp64", "links": 12, "us": us}

    def measured(date, **us):
        return {"machine": f"machine of {date}", "date": date, "rows": [row(**{name[1:]: value for name, value in us.items()})]}

    table = performance_page.several_table({"measurements": [measured("2026-01-01", n1=200, n2=150, n4=50),
                                                             measured("2026-02-02", n1=100, n2=[60, 65])]})
    assert "| 100.0 | 60.0-65.0 | 80 % | 50.0 | 100 % |" in table
    assert "2 GPUs: machine of 2026-02-02" in table and "4 GPUs: machine of 2026-01-01" in table


def test_measuring_the_cpu_writes_its_figures_and_its_table(program, tmp_path, monkeypatch, capsys):
    docs, other = tmp_path / "docs", (4, 4, 4, 16)
    shutil.copytree(performance_page.DOCS, docs)
    monkeypatch.setattr(performance_page, "PAGE", docs / "performance.md")
    monkeypatch.setattr(performance_page, "FIGURES", docs / "figures")
    for module in (measure, performance_page):
        monkeypatch.setattr(module, "CPU_LARGE", other)
        monkeypatch.setattr(module, "SMALL", TINY)
    monkeypatch.setenv("STAGHORN_PROGRAM", str(program))
    words = ["measure", str(tmp_path / "runs"), "--device", "cpu", "--seconds", "0.002", "--stream-mib", "32", "--write"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        measure.main()
    assert not ended.value.code
    kept = json.loads((docs / "figures" / "cpu.json").read_text())
    assert {tuple(row["lattice"]) for row in kept["rows"]} == {TINY, other}
    page = (docs / "performance.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| fp32, 12 reals |"))
    assert row in capsys.readouterr().out and " - " not in row
    assert kept["machine"] in page and "one GPU" in page
    assert len(list((tmp_path / "runs").glob("bench-*.json"))) == 4
