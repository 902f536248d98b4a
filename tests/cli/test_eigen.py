"""`staghorn eigen`: what is printed and written, and what is refused before long work."""

from __future__ import annotations

import json


def test_summary_and_report_say_the_same(staghorn, small_gauge, tmp_path):
    result = staghorn("eigen", "--gauge", small_gauge, "--pairs", 6, "--report", tmp_path / "e.json", check=True)
    report = json.loads((tmp_path / "e.json").read_text())
    assert "CERTIFICATE  certified" in result.stdout
    assert f"{report['calls']} operator calls" in result.stdout
    assert f"{report['eigenvalues'][0]:.10g}" in result.stdout
    assert report["pairs"] == len(report["eigenvalues"]) == len(report["residuals"]) == 6
    assert report["eigenvalues"] == sorted(report["eigenvalues"])
    assert max(report["residuals"]) == report["certificate"]["largest_residual"] <= 1e-10 * report["largest_eigenvalue"]["value"]
    assert report["probe"]["probes"] == 1 and report["probe"]["lowest"] >= report["eigenvalues"][-1]
    assert {"read", "setup", "range", "search", "certify"} <= report["seconds"].keys()
    assert all(report["memory_bytes"][name] > 0 for name in ("links", "basis", "eigenvectors"))


def test_vectors_that_are_found_make_solves_short(staghorn, small_gauge, tmp_path):
    staghorn("eigen", "--gauge", small_gauge, "--pairs", 40, "--output", tmp_path / "e.h5", "--storage", "fp32", check=True)
    iterations = {}
    for deflate in ("on", "off"):
        staghorn("solve", "--gauge", small_gauge, "--mass", 0.01, "--source", "z2:1", "--system", "even", "--eigenvectors",
                 tmp_path / "e.h5", "--deflate", deflate, "--report", tmp_path / "x.json", "--force", check=True)
        iterations[deflate] = json.loads((tmp_path / "x.json").read_text())["rhs"][0]["iterations"]
    assert iterations["on"] < 0.7 * iterations["off"]


def test_too_few_calls_end_with_status_3_and_both_files(staghorn, small_gauge, tmp_path):
    result = staghorn("eigen", "--gauge", small_gauge, "--pairs", 6, "--max-calls", 400, "--report", tmp_path / "e.json",
                      "--output", tmp_path / "e.h5")
    report = json.loads((tmp_path / "e.json").read_text())
    assert result.returncode == 3 and "CERTIFICATE  out_of_calls" in result.stdout
    assert report["outcome"] == "out_of_calls" and report["calls"] <= 400
    assert (tmp_path / "e.h5").is_file() and report["eigenvalues"]
    assert "--max-calls" in report["explanation"] and "of 6 pairs" in report["explanation"]


def test_a_search_in_fp32_finds_the_same_values(staghorn, small_gauge, tmp_path):
    """Values are those of fp64, for Rayleigh quotients are; residuals and products are those of vectors in fp32."""
    reports = {}
    for precision, tolerance in (("fp64", 1e-10), ("fp32", 1e-6)):
        staghorn("eigen", "--gauge", small_gauge, "--pairs", 20, "--precision", precision, "--tolerance", tolerance,
                 "--report", tmp_path / "e.json", "--force", check=True)
        reports[precision] = json.loads((tmp_path / "e.json").read_text())
    precise, rounded = reports["fp64"], reports["fp32"]
    assert rounded["outcome"] == "certified" and rounded["precision"] == "fp32"
    largest = precise["largest_eigenvalue"]["value"]
    assert 1e-8 < max(rounded["residuals"]) / largest < 1e-6 and 1e-8 < rounded["certificate"]["orthogonality"] < 1e-5
    for found, expected in zip(rounded["eigenvalues"], precise["eigenvalues"], strict=True):
        assert abs(found - expected) < 1e-11 * largest
    assert rounded["memory_bytes"]["basis"] < 0.6 * precise["memory_bytes"]["basis"]


def test_what_is_refused(staghorn, small_gauge, tmp_path, expect_error):
    def refused(status, *options):
        return staghorn("eigen", *options), status

    expect_error(*refused(2, "--pairs", 4), "--gauge is required")
    expect_error(*refused(2, "--gauge", small_gauge), "--pairs is required")
    expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, "--tolerance", "small"), "--tolerance", "a number")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 0), "--pairs", "from 1 to 1000", "found 0")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 1001), "--pairs", "from 1 to 1000", "found 1001")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 4, "--tolerance", 1e-17), "--tolerance", "1e-16")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 4, "--max-calls", 0), "--max-calls")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 4, "--precision", "fp32"), "--tolerance", "1e-06 to 1 in fp32")
    for option in (["--sloppy", "fp32"], ["--eigenvectors", "e.h5"], ["--eigenvectors-on", "host"], ["--keep-thin-links"]):
        expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, *option), option[0].strip("-"), "of eigen")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 4, "--report", tmp_path / "no" / "e.json"), "no")
    for written in ("--report", "--output"):
        expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, written, small_gauge), "would be read and replaced")
    expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, "--storage", "fp32"), "--storage belongs to --output")
    expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, "--output", "e.lime", "--storage", "fp16"), "MILC's form")
    expect_error(*refused(1, "--gauge", small_gauge, "--pairs", 4, "--output", tmp_path / "no" / "e.h5"), "no")
    expect_error(*refused(2, "--gauge", small_gauge, "--pairs", 4, "--output", "e.packed.lime", "--storage", "fp16"), "MILC's form")
    packed = tmp_path / "e.packed.scidac"  # T = 10; the search would run out of calls
    result, status = refused(1, "--gauge", small_gauge, "--pairs", 4, "--max-calls", 1, "--output", packed)
    expect_error(result, status, "T of a lattice", "a multiple of 4", "10")
    assert "operator calls" not in result.stdout and not packed.exists()


def test_a_basis_that_does_not_fit_is_refused(staghorn, small_gauge, expect_error):
    result = staghorn("eigen", "--gauge", small_gauge, "--pairs", 900, env={"STAGHORN_HOST_MEMORY": "40000000"})
    expect_error(result, 1, "900 eigenpairs", "vectors of", "--pairs fit; more ranks")
