"""Options of improved quarks: refused by name where they do not go together, reported, planned, benchmarked, and in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
import staghorn as staghorn_python
from solve_files import read_solution


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gauge") / "rough.h5"
    staghorn("generate", "--lattice", 4, 4, 6, 8, "--beta", 6, "--sweeps", 5, "--seed", 5, "--device", "cpu", "--output", path, check=True)
    return path


@pytest.mark.parametrize("options, words", [
    (["--naik-epsilon", 0.1], ["--naik-epsilon", "--action hisq", "naive"]),
    (["--u0", 0.9], ["--u0", "--action asqtad"]),
    (["--action", "asqtad", "--naik-epsilon", 0.1], ["--naik-epsilon", "hisq"]),
    (["--action", "hisq", "--u0", 0.9], ["--u0", "asqtad"]),
    (["--action", "asqtad", "--unitarize", "su3"], ["--unitarize", "hisq"]),
    (["--action", "asqtad", "--u0", 0], ["--u0", "above 0"]),
    (["--action", "hisq", "--naik-epsilon", "nan"], ["--naik-epsilon", "finite"]),
    (["--action", "wilson"], ["--action", "naive, asqtad or hisq"]),
    (["--action", "hisq", "--links", 12], ["--links", "18", "--naik-links"]),
    (["--action", "hisq", "--sloppy", "fp32", "--sloppy-links", 12], ["--sloppy-links", "18"]),
    (["--action", "hisq", "--fat-links", 12], ["--fat-links", "18"]),
    (["--action", "hisq", "--naik-links", 12], ["--naik-links", "18, 13 or 9"]),
    (["--action", "hisq", "--sloppy-naik-links", 13], ["--sloppy-naik-links", "sloppy"]),
    (["--naik-links", 13], ["--naik-links", "improved quarks"]),
    (["--fat", "f"], ["--fat", "--naik"]),
    (["--fat", "f", "--naik", "l"], ["--gauge", "--fat and --naik"]),
    (["--phases-in-links", "milc"], ["--phases-in-links", "--fat"]),
], ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) and str(value[0]).startswith("--") else "")
def test_options_that_do_not_go_together_are_refused(staghorn, expect_error, gauge, options, words):
    expect_error(staghorn("solve", "--gauge", gauge, "--mass", 1, *options), 2, *words)


def test_links_have_to_be_named(staghorn, expect_error):
    expect_error(staghorn("solve", "--mass", 1), 2, "--gauge is required, or --fat and --naik")


@pytest.mark.mpi
def test_local_lattices_that_are_too_small_are_refused_by_name(staghorn, expect_error, gauge):
    expect_error(staghorn("solve", "--gauge", gauge, "--mass", 1, "--action", "hisq", "--grid", "2,1,1,1", ranks=2), 1,
                 "improved quarks", "local extents of at least 4", "2x4x6x8")


def test_report_says_what_quarks_they_were(staghorn, gauge, tmp_path):
    def report(*options):
        staghorn("solve", "--gauge", gauge, "--mass", 1, "--color", 0, *options, "--report", tmp_path / "x.json", "--force", check=True)
        return json.loads((tmp_path / "x.json").read_text())

    naive = report()
    assert naive["action"] == "naive" and "improved" not in naive
    hisq = report("--action", "hisq", "--naik-epsilon", -0.2, "--naik-links", 13)
    assert (hisq["action"], hisq["naik_epsilon"], hisq["u0"], hisq["naik_links"]) == ("hisq", -0.2, None, 13)
    improved = hisq["improved"]
    assert improved["naik_scale"] == pytest.approx(-0.8 / 24, rel=1e-15) and improved["naik_unitarity"] < 1e-14
    assert 0 < improved["smallest_determinant"] < improved["smallest_singular_value"] < 1
    assert "c_N" in hisq["conventions"]["operator"] and "c_N" not in naive["conventions"]["operator"]
    assert hisq["memory_bytes"]["certificate_links"] == 2 * naive["memory_bytes"]["certificate_links"]
    for name in ("certificate_links", "links", "vectors", "halo"):
        assert hisq["memory_bytes"][name] <= hisq["predicted_memory_bytes"][name]
    asqtad = report("--action", "asqtad", "--u0", 0.87)
    assert (asqtad["action"], asqtad["u0"], asqtad["naik_epsilon"]) == ("asqtad", 0.87, None)
    assert asqtad["improved"]["naik_scale"] == pytest.approx(-1 / 24 / 0.87**2, rel=1e-14)
    assert asqtad["improved"]["smallest_singular_value"] is None


def test_epsilon_and_u0_change_the_answer(staghorn, gauge, tmp_path):
    norms = set()
    for options in ([], ["--action", "hisq"], ["--action", "hisq", "--naik-epsilon", -0.1], ["--action", "hisq", "--unitarize", "su3"],
                    ["--action", "asqtad"], ["--action", "asqtad", "--u0", 0.87]):
        staghorn("solve", "--gauge", gauge, "--mass", 1, "--color", 0, *options, "--report", tmp_path / "x.json", "--force", check=True)
        norms.add(round(json.loads((tmp_path / "x.json").read_text())["rhs"][0]["norm2"], 8))
    assert len(norms) == 6


def test_plan_and_bench_know_improved_quarks(staghorn, tmp_path):
    def plan(*options):
        return json.loads(staghorn("plan", "--lattice", 32, 32, 32, 64, *options, "--sloppy", "none", "--json", check=True).stdout)["plans"][0]

    naive, hisq, compressed = plan(), plan("--action", "hisq"), plan("--action", "hisq", "--naik-links", 13)
    assert naive["gpu_bytes"] < compressed["gpu_bytes"] < hisq["gpu_bytes"]
    assert naive["microseconds"] < compressed["microseconds"] < hisq["microseconds"]
    staghorn("bench", "hop", "--lattice", 8, 8, 8, 8, "--action", "hisq", "--naik-links", "18,13", "--precision", "fp32", "--seconds", 0.01,
             "--stream-mib", 32, "--device", "cpu", "--json", tmp_path / "b.json", check=True)
    rows = json.loads((tmp_path / "b.json").read_text())["results"]
    assert [(row["links"], row["naik_links"]) for row in rows] == [(18, 18), (18, 13)]


def test_python_solves_as_the_program_does(staghorn, gauge, tmp_path):
    staghorn("solve", "--gauge", gauge, "--action", "hisq", "--naik-epsilon", -0.1, "--mass", 1, "--output", tmp_path / "x.scidac",
             "--report", tmp_path / "x.json", check=True)
    session = staghorn_python.Session(gauge, action="hisq", naik_epsilon=-0.1, device="cpu")
    _, report = session.solve(1, "point:0,0,0,0")
    program = json.loads((tmp_path / "x.json").read_text())
    assert [rhs["history"] for rhs in report["rhs"]] == [rhs["history"] for rhs in program["rhs"]]
    for improved in (report["improved"], program["improved"]):
        assert improved.pop("made_on") == "host" and improved.pop("seconds") > 0 and improved.pop("device_seconds") == 0
    assert report["improved"] == program["improved"]


def test_python_takes_stored_links(staghorn, gauge, tmp_path):
    fat, naik = tmp_path / "fat", tmp_path / "long"
    staghorn("smear", "--gauge", gauge, "--action", "hisq", "--phases-in-links", "milc", "--fat", fat, "--naik", naik, check=True)
    stored, _ = staghorn_python.Session(fat=fat, naik=naik, device="cpu").solve(1, "point:0,0,0,0")
    with pytest.warns(DeprecationWarning, match="long is the old name of naik"):
        once, _ = staghorn_python.Session(fat=fat, long=naik, device="cpu").solve(1, "point:0,0,0,0")
    command_line = ["solve", "--fat", fat, "--mass", 1, "--device", "cpu", "--output"]
    for option in ("--naik", "--long"):
        staghorn(*command_line, tmp_path / f"{option}.h5", option, naik, check=True)
    assert np.array_equal(once, stored) and np.array_equal(read_solution(tmp_path / "--long.h5"), read_solution(tmp_path / "--naik.h5"))
    made, _ = staghorn_python.Session(gauge, action="hisq", device="cpu").solve(1, "point:0,0,0,0")
    assert np.abs(stored - made).max() < 1e-9 * np.abs(made).max()
    with pytest.raises(staghorn_python.Error, match="gauge: expected a file, links, or `fat` and `naik`"):
        staghorn_python.Session()
