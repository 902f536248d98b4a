"""Solutions with improved quarks against MILC's and an independent code's: HISQ from thin links, asqtad from stored links."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from reference_configurations import MASSES, components_differ_by, formula_vector
from solve_files import relative_difference, solve, write_source
from staghorn.reference import extents_of, keep_parity, milc_sign

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "io"))

import numpy_formats as formats  # noqa: E402

pytestmark = pytest.mark.reference

THIN = "lat.sample.l8888"
PRECISE = 1e-8  # as of naive quarks (test_solutions.py)
POINT = ["--source", "point:0,0,0,0"]


@pytest.fixture(scope="module")
def hisq(expected):
    return expected(THIN)["cg"]["hisq"]


@pytest.fixture(scope="module")
def stored(reference_data):
    return json.loads((reference_data / "reference.json").read_text())["improved_fat_long_l8"]


@pytest.fixture(scope="module")
def hisq_solve(staghorn, reference_data, tmp_path_factory):
    folder, done = tmp_path_factory.mktemp("hisq"), {}

    def run(mass, *options):
        key = (mass, *map(str, options))
        if key not in done:
            done[key] = solve(staghorn, folder, reference_data / THIN, "--action", "hisq", "--mass", mass, *options)
        return done[key]

    return run


@pytest.fixture(scope="module")
def stored_solve(staghorn, reference_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")

    def run(*options, mass=0.1, ranks=1):
        output, report = folder / "x.h5", folder / "x.json"
        staghorn("solve", "--fat", reference_data / "fat.l8", "--long", reference_data / "long.l8", "--mass", mass, *options,
                 "--output", output, "--report", report, "--force", ranks=ranks, check=True)
        with h5py.File(output) as file:
            return json.loads(report.read_text()), file["solution"][...]

    return run


def of_mass(results: dict, mass: float) -> dict:
    return next(entry for entry in results["masses"] if entry["m_MILC"] == mass)


@pytest.mark.parametrize("mass", MASSES)
def test_hisq_propagator_is_that_of_the_independent_code(hisq_solve, hisq, mass):
    report, solution = hisq_solve(mass, *POINT, "--tolerance", 1e-12)
    expected = of_mass(hisq, mass)["propagator"]
    assert report["outcome"] == "certified" and report["action"] == "hisq"
    assert report["pion_correlator"] == pytest.approx(expected["pion_correlator_t"], rel=1e-10)
    found = np.array([[rhs["norm2_even"], rhs["norm2_odd"]] for rhs in report["rhs"]])
    assert found == pytest.approx(np.array(expected["norm2_even_odd_per_source_color"]), rel=1e-10)
    assert components_differ_by(solution[0], expected["color0_components_even"]) < PRECISE
    in_milc_phases = milc_sign(extents_of(solution[0])) * solution[0]
    assert components_differ_by(in_milc_phases, expected["color0_components_odd_milc_phases"]) < PRECISE


@pytest.mark.parametrize("mass", MASSES)
def test_hisq_pion_correlator_of_reunitarized_links_is_milcs(hisq_solve, hisq, mass):
    report, _ = hisq_solve(mass, *POINT, "--tolerance", 1e-12, "--reunitarize")
    assert report["gauge"]["reunitarized"]
    assert report["pion_correlator"] == pytest.approx(of_mass(hisq["milc"], mass)["pion_correlator_t"], rel=1e-10)


@pytest.mark.parametrize("tolerance", ["1e-6", "1e-8", "1e-10"])
def test_hisq_iterations_are_the_listed_ones(hisq_solve, hisq, tolerance):
    report, solution = hisq_solve(0.1, *POINT, "--color", 0, "--system", "even", "--tolerance", tolerance)
    listed = of_mass(hisq, 0.1)["even_point"]
    assert abs(report["rhs"][0]["iterations"] - listed["iterations"][tolerance]) <= 1
    if tolerance == "1e-10":
        assert report["rhs"][0]["norm2"] == pytest.approx(listed["norm2"], rel=1e-9)
        assert components_differ_by(solution[0], listed["components_standard_phases"]) < PRECISE


def test_hisq_solution_of_the_formula_source_agrees(hisq_solve, hisq, tmp_path):
    source = write_source(tmp_path / "b.h5", keep_parity(formula_vector((8, 8, 8, 8)), 0))
    milc, cps = (of_mass(hisq, 0.1)[name] for name in ("even_formula", "even_formula_standard_phases"))
    for listed, phases in ((milc, "milc"), (cps, "cps")):
        report, solution = hisq_solve(0.1, "--source", f"file:{source}", "--system", "even", "--phases", phases, "--tolerance", 1e-12)
        assert report["rhs"][0]["norm2"] == pytest.approx(listed["norm2"], rel=1e-10)
        assert components_differ_by(solution[0], listed["components"]) < PRECISE


def test_mixed_precision_certifies_hisq(hisq_solve, hisq):
    report, _ = hisq_solve(0.05, *POINT, "--sloppy", "fp32", "--tolerance", 1e-11)
    assert report["outcome"] == "certified" and report["sloppy_naik_links"] == 13
    assert report["pion_correlator"] == pytest.approx(of_mass(hisq, 0.05)["propagator"]["pion_correlator_t"], rel=1e-8)


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
def test_milcs_links_give_milcs_answer(stored_solve, reference_data, ranks):
    source = reference_data / "ksvector.src.sample.l8"
    report, solution = stored_solve("--source", f"file:{source}", "--phases", "milc", ranks=ranks)
    assert max(report["grid"]) <= 2  # 8 sites on 4 ranks in a row would leave 2, too few for steps of three
    answer = formats.read_scidac_vectors((reference_data / "ksvector.ans.Minv.sample.l8").read_bytes())
    assert relative_difference(solution, answer) < 1.2e-7  # fp32 of the file
    assert report["action"] == "asqtad" and report["u0"] == pytest.approx(0.502)
    improved = report["improved"]
    assert improved["naik_scale"] == pytest.approx(-0.1653413, abs=1e-7) and improved["phases_in_links"] == "milc"
    assert 1e-9 < improved["naik_unitarity"] < 5e-7


def test_milcs_links_give_milcs_answer_of_the_normal_equation(stored_solve, reference_data):
    source = reference_data / "ksvector.src.sample.l8"
    answer = formats.read_scidac_vectors((reference_data / "ksvector.ans.MdaggerMinv.sample.l8").read_bytes())
    solution = sum(stored_solve("--source", f"file:{source}", "--phases", "milc", "--system", system)[1] for system in ("even", "odd"))
    norm = np.linalg.norm(formats.read_scidac_vectors(source.read_bytes()))
    assert np.linalg.norm(solution - answer) < 1.2e-7 * norm
    assert relative_difference(solution, answer) < 2e-7


def test_stored_links_give_the_listed_propagator(stored_solve, stored):
    report, solution = stored_solve(*POINT, "--tolerance", 1e-12)
    listed = of_mass(stored, 0.1)["propagator"]
    assert report["pion_correlator"] == pytest.approx(listed["pion_correlator_t"], rel=1e-9)
    assert components_differ_by(solution[0], listed["color0_components_even"]) < PRECISE


@pytest.mark.parametrize("reals", [13, 9])
def test_naik_links_of_fewer_reals_are_allowed_for_milcs_links(stored_solve, stored, reals):
    report, _ = stored_solve(*POINT, "--naik-links", reals)
    assert report["naik_links"] == reals and report["improved"]["naik_projected"]
    assert report["pion_correlator"] == pytest.approx(of_mass(stored, 0.1)["propagator"]["pion_correlator_t"], rel=1e-6)


@pytest.mark.parametrize("answer, operator", [("Minv", "M"), ("MdaggerMinv", "A")])
def test_solutions_that_milc_wrote_are_certified(staghorn, reference_data, answer, operator):
    def certify(*options):
        result = staghorn("certify", "--fat", reference_data / "fat.l8", "--naik", reference_data / "long.l8", "--solution",
                          reference_data / f"ksvector.ans.{answer}.sample.l8", "--source", f"file:{reference_data / 'ksvector.src.sample.l8'}",
                          "--report", "-", *options)
        return result.returncode, json.loads(result.stdout)

    status, report = certify("--phases", "milc", "--mass", 0.1)
    assert (status, report["outcome"], report["precision"], report["convention"]["operator"]) == (0, "certified", "fp32", operator)
    assert report["residuals"][0] < 1e-7
    status, report = certify()
    assert (status, report["outcome"]) == (3, "other_convention")
    assert report["convention"]["options"] == "--mass 0.1 --phases milc" and report["convention"]["action"] == "stored"
    assert certify("--phases", "milc", "--mass", 0.15, "--no-search")[0] == 3
