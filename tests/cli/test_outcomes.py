"""What a solve says of itself: outcome, exit status, report, and the residual that is true."""

from __future__ import annotations

import json

import h5py
import pytest


def test_certified(solve):
    result = solve("--color", "all")
    assert result.returncode == 0, result.stderr
    assert "CERTIFICATE  certified" in result.stdout
    report = result.report
    assert report["outcome"] == "certified" and report["explanation"] == ""
    assert [rhs["color"] for rhs in report["rhs"]] == [0, 1, 2]
    for rhs in report["rhs"]:
        assert 0 < rhs["residual_true"] <= report["tolerance"] == 1e-10
        assert len(rhs["history"]) == rhs["iterations"] + 1
        assert rhs["norm2"] == pytest.approx(rhs["norm2_even"] + rhs["norm2_odd"], rel=1e-14)


def test_report_has_the_names_that_scripts_rely_on(solve):
    report = solve("--color", "all").report
    names = {"schema_version", "outcome", "device", "precision", "links", "lattice", "grid", "mass", "gauge", "rhs",
             "pion_correlator", "condensate", "seconds", "memory_bytes"}
    assert names <= set(report)
    assert (report["device"], report["precision"], report["links"]) == ("cpu", "fp64", 18)
    assert (report["sloppy"], report["loop"], report["precise_loop"]) == ("fp32", "host", None)
    assert (report["lattice"], report["grid"], report["mass"]) == ([4, 6, 8, 10], [1, 1, 1, 1], 0.5)
    assert {"file", "format", "plaquette", "plaquette_space", "plaquette_time", "link_trace", "max_unitarity_deviation",
            "checksums"} <= set(report["gauge"])
    assert len(report["gauge"]["link_trace"]) == 2
    assert all(set(sums) == {"stored", "computed", "match"} for sums in report["gauge"]["checksums"].values())
    assert {"color", "iterations", "residual_iterated", "residual_true", "norm2", "norm2_even", "norm2_odd",
            "history"} <= set(report["rhs"][0])
    assert len(report["pion_correlator"]) == 10
    assert sum(report["pion_correlator"]) == pytest.approx(sum(rhs["norm2"] for rhs in report["rhs"]), rel=1e-13)
    assert {"read", "setup", "convert", "solve", "certify", "write"} <= set(report["seconds"])
    assert {"links", "vectors", "halo", "certificate_links"} <= set(report["memory_bytes"])


def test_out_of_iterations_writes_solution_and_report(solve):
    result = solve("--max-iterations", 3, mass=0.05)
    assert result.returncode == 3
    assert result.stderr == ""
    assert result.report["outcome"] == "out_of_iterations"
    assert result.report["rhs"][0]["iterations"] == 3
    assert "--max-iterations 3" in result.report["explanation"]
    assert result.report["explanation"] in result.stdout
    with h5py.File(result.output_path) as file:
        assert file["solution"].shape == (1, 10, 8, 6, 4, 3)
        assert file["solution"].attrs["outcome"] in ("out_of_iterations", b"out_of_iterations")


def test_guess_continues_where_another_solve_stopped(solve):
    first = solve("--max-iterations", 30, mass=0.1)
    assert first.returncode == 3
    whole = solve(mass=0.1, name="whole")
    second = solve("--guess", first.output_path, mass=0.1, name="second")
    assert second.returncode == 0, second.stderr
    assert second.report["rhs"][0]["iterations"] < whole.report["rhs"][0]["iterations"]
    assert second.report["rhs"][0]["norm2"] == pytest.approx(whole.report["rhs"][0]["norm2"], rel=1e-9)


def test_solution_is_certified_again_without_iterations(solve):
    first = solve()
    again = solve("--guess", first.output_path, "--max-iterations", 0, name="again")
    assert again.returncode == 0, again.stderr
    assert again.report["rhs"][0]["iterations"] == 0 and again.report["loop"] is None
    assert again.report["rhs"][0]["residual_true"] == first.report["rhs"][0]["residual_true"]


def test_stagnation_names_what_is_within_reach(solve):
    result = solve("--tolerance", "1e-18")
    assert result.returncode == 3
    assert result.report["outcome"] == "stagnated"
    assert 1e-18 < result.report["rhs"][0]["residual_true"] < 1e-14
    assert "--tolerance" in result.report["explanation"]


@pytest.mark.parametrize("links", [18, 12, 8])
@pytest.mark.parametrize("tolerance", [None, "1e-11"])
def test_fp32_answers_are_certified_in_fp64(solve, tolerance, links):
    options = ["--tolerance", tolerance] if tolerance else []
    result = solve("--precision", "fp32", "--links", links, *options)
    assert result.returncode == 0, result.stdout
    assert result.report["tolerance"] == float(tolerance or 1e-5)
    assert result.report["rhs"][0]["residual_true"] <= result.report["tolerance"]
    assert result.report["links"] == links


def test_source_of_any_size_is_solved_alike(solve, tmp_path, small_gauge):
    """A source times a power of two gives the same iterations and the solution times it, to the last bit."""
    import numpy as np
    from solve_files import read_solution, write_source

    vector = np.random.default_rng(1).standard_normal((10, 8, 6, 4, 3)) + 0j
    solutions = {}
    for exponent in (0, -100, 200):
        source = write_source(tmp_path / f"b{exponent}.h5", vector * 2.0**exponent)
        result = solve("--source", f"file:{source}", name=f"x{exponent}")
        assert result.returncode == 0, result.stdout
        solutions[exponent] = read_solution(result.output_path) * 2.0**-exponent
    assert np.array_equal(solutions[0], solutions[-100])
    assert np.array_equal(solutions[0], solutions[200])


def test_noise_gives_a_condensate(solve):
    report = solve("--source", "z2:5", "--noise-vectors", 3).report
    assert len(report["rhs"]) == 3 and all(rhs["color"] is None for rhs in report["rhs"])
    assert report["condensate"]["n_vectors"] == 3 and report["condensate"]["error"] > 0
    assert report["pion_correlator"] == []


def test_inspect_says_what_the_header_says(staghorn, small_gauge):
    import json

    result = staghorn("inspect", small_gauge, "--json", check=True)
    found = json.loads(result.stdout)
    assert found["lattice"] == [4, 6, 8, 10] and found["format"] == "hdf5" and found["precision"] == "fp64"
    assert found["intact"] and all(sums["match"] for sums in found["checksums"].values())
    assert found["max_unitarity_deviation"] < 1e-14
    text = staghorn("inspect", small_gauge, check=True).stdout
    assert "4x6x8x10" in text and "match" in text and "memory" in text


def test_auto_chooses_the_precision_of_the_iterations(staghorn, tmp_path):
    """fp16 for a heavy mass of improved quarks on many sites, else fp32; with the bits of that precision by name."""
    gauge = tmp_path / "cold.h5"
    staghorn("generate", "--lattice", 16, 16, 16, 32, "--start", "cold", "--sweeps", 0, "--output", gauge, check=True)

    HISQ = ["--action", "hisq"]

    def solved(sloppy, *options):
        output, report = tmp_path / "x.h5", tmp_path / "x.json"
        staghorn("solve", "--gauge", gauge, "--sloppy", sloppy, "--source", "point:0,0,0,0", "--color", 0, "--system", "even", *options,
                 "--output", output, "--report", report, "--force")
        with h5py.File(output) as file:
            return file["solution"][...].tobytes(), json.loads(report.read_text())

    for options, chosen in [(["--mass", 0.5], "fp32"), (["--mass", 0.5, *HISQ], "fp16"),
                            (["--mass", 0.004, "--max-iterations", 10, *HISQ], "fp32"), (["--masses", "0.5,1", *HISQ], "fp32"),
                            (["--mass", 0.5, "--batch", 1, *HISQ], "fp16")]:
        solution, report = solved("auto", *options)
        assert report["sloppy"] == chosen
        assert solution == solved(chosen, *options)[0]
