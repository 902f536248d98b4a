"""Bad input gets one clear error before anything is computed, and nothing is written or lost."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from solve_files import with_checksums, write_source

SHAPE = (10, 8, 6, 4, 3)  # T, Z, Y, X, colour of small_gauge


def test_missing_gauge_file(staghorn, expect_error, tmp_path):
    result = staghorn("solve", "--gauge", tmp_path / "absent", "--mass", 0.1)
    expect_error(result, 1, tmp_path / "absent", "No such file")


def test_gauge_file_of_unknown_format(staghorn, expect_error, tmp_path):
    (tmp_path / "noise").write_bytes(b"this is no gauge configuration " * 100)
    expect_error(staghorn("solve", "--gauge", tmp_path / "noise", "--mass", 0.1), 1, tmp_path / "noise")
    expect_error(staghorn("inspect", tmp_path / "noise"), 1, tmp_path / "noise")


@pytest.fixture
def milc_file(staghorn, small_gauge, tmp_path):
    path = tmp_path / "lat.milc"
    staghorn("convert", small_gauge, path, "--format", "milc", "--precision", "fp32", check=True)
    return path


def test_truncated_gauge_file(staghorn, expect_error, milc_file):
    milc_file.write_bytes(milc_file.read_bytes()[:-1000])
    expect_error(staghorn("solve", "--gauge", milc_file, "--mass", 0.1), 1, milc_file, "expected", "found")


def test_flipped_bit(staghorn, expect_error, milc_file):
    content = bytearray(milc_file.read_bytes())
    content[len(content) // 2] ^= 4
    milc_file.write_bytes(content)
    expect_error(staghorn("solve", "--gauge", milc_file, "--mass", 0.1), 1, milc_file, "sum29")
    result = staghorn("inspect", milc_file)
    expect_error(result, 1, milc_file, "sum29")
    assert "MISMATCH" in result.stdout


@pytest.fixture
def damaged_links(staghorn, small_gauge, tmp_path):
    """damaged_links(change) -> a file whose links went through `change`, with checksums that are right again."""

    def make(change):
        path = tmp_path / "changed.h5"
        path.write_bytes(small_gauge.read_bytes())
        with h5py.File(path, "r+") as file:
            file["links"][...] = change(file["links"][...])
            with_checksums(file["links"])
            del file["links"].attrs["plaquette"]
        return path

    return make


@pytest.mark.parametrize("scale, hint", [(1 + 1e-4, "--reunitarize"), (1.1, "fat")])
def test_links_that_are_not_unitary(solve, expect_error, damaged_links, scale, hint):
    result = solve(gauge=damaged_links(lambda links: scale * links))
    expect_error(result, 1, "changed.h5", "SU(3)", "1e-05", hint)


def test_links_that_are_nearly_unitary_can_be_projected(solve, expect_error, damaged_links):
    path = damaged_links(lambda links: (1 + 1e-4) * links)
    result = solve("--reunitarize", gauge=path)
    assert result.returncode == 0, result.stderr
    assert result.report["gauge"]["reunitarized"]
    assert result.report["gauge"]["max_unitarity_deviation"] == pytest.approx(2e-4, rel=1e-3)


def test_links_with_signs_folded_in_are_not_projected(solve, expect_error, damaged_links):
    expect_error(solve("--reunitarize", gauge=damaged_links(lambda links: -links)), 1, "SU(3)", "folded in")


def test_links_that_are_not_numbers(solve, expect_error, damaged_links):
    def spoil(links):
        links.reshape(-1)[1000] = np.nan
        return links

    expect_error(solve(gauge=damaged_links(spoil)), 1, "changed.h5", "NaN")


def test_source_with_nan_names_the_site(solve, expect_error, tmp_path):
    vector = np.ones((2, *SHAPE), complex)
    vector[1, 9, 7, 5, 3, 2] = np.nan
    source = write_source(tmp_path / "b.h5", vector)
    expect_error(solve("--source", f"file:{source}"), 1, "source 1", "NaN", "3,5,7,9")


def test_zero_source(solve, expect_error, tmp_path):
    vector = np.ones((2, *SHAPE), complex)
    vector[1] = 0
    source = write_source(tmp_path / "b.h5", vector)
    result = solve("--source", f"file:{source}")
    expect_error(result, 1, "source 1", "zero")
    assert not result.output_path.exists() and not result.report_path.exists()


def test_source_on_the_other_parity(solve, expect_error):
    expect_error(solve("--system", "even", "--source", "point:1,0,0,0"), 1, "source 0", "even", "other parity")


def test_source_of_other_extents(solve, expect_error, tmp_path):
    source = write_source(tmp_path / "b.h5", np.ones((4, 4, 4, 4, 3), complex))
    expect_error(solve("--source", f"file:{source}"), 1, source, "expected", "found")


def test_source_outside_the_lattice(solve, expect_error):
    expect_error(solve("--source", "point:0,6,0,0"), 1, "y from 0 to 5", "6")


@pytest.mark.parametrize("system, mass", [("full", 0), ("full", -0.1), ("even", -0.1), ("full", "nan"), ("full", "inf")])
def test_mass_that_makes_no_sense(solve, expect_error, system, mass):
    expect_error(solve("--system", system, mass=mass), 1, "mass", "expected", "found")


def test_massless_parity_system_is_allowed(solve):
    result = solve("--system", "even", "--max-iterations", 5, mass=0)
    assert result.returncode == 3, result.stderr


@pytest.mark.parametrize("tolerance", ["0", "-1", "1", "nan"])
def test_tolerance_that_makes_no_sense(solve, expect_error, tolerance):
    expect_error(solve("--tolerance", tolerance), 1, "tolerance")


def test_grid_of_another_number_of_ranks(solve, expect_error):
    expect_error(solve("--grid", "1,1,1,2"), 1, "1x1x1x2", "2 ranks", "1 ranks")


def test_device_that_this_build_lacks(solve, expect_error):
    expect_error(solve("--device", "cuda"), 1, "device", "cpu", "cuda")


@pytest.mark.parametrize("options, status, words", [
    (["--device", "cpu", "--blas", "cublas"], 1, ["blas cublas", "GPU", "cpu"]),
    (["--blas", "cublas", "--sloppy", "fp32"], 2, ["--blas cublas", "sloppy fp32"]),
    (["--blas", "mkl"], 2, ["--blas", "fused or cublas", "mkl"]),
])
def test_baseline_where_it_cannot_run(solve, expect_error, options, status, words):
    expect_error(solve(*options), status, *words)


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_file_that_cannot_be_written(staghorn, small_gauge, expect_error, tmp_path, option):
    for path in (tmp_path / "absent" / "file", tmp_path):
        result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, option, path)
        expect_error(result, 1, path)
        assert "CERTIFICATE" not in result.stdout


@pytest.mark.parametrize("existing", ["output_path", "report_path"])
def test_existing_file_is_kept_without_force(solve, expect_error, existing):
    first = solve()
    assert first.returncode == 0, first.stderr
    other = {"output_path": first.report_path, "report_path": first.output_path}[existing]
    other.unlink()
    kept = getattr(first, existing)
    before = kept.read_bytes()
    result = solve()
    expect_error(result, 1, kept, "--force")
    assert "CERTIFICATE" not in result.stdout
    assert kept.read_bytes() == before
    assert not other.exists()
    assert solve("--force").returncode == 0
    assert kept.exists() and other.exists()


def test_output_that_is_also_input(staghorn, small_gauge, expect_error, tmp_path):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--output", small_gauge, "--force")
    expect_error(result, 2, small_gauge)
    expect_error(staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--output", tmp_path / "a", "--report",
                          tmp_path / "a"), 2, "--output and --report")


def test_guess_with_another_number_of_vectors(solve, expect_error):
    first = solve("--color", "all")
    expect_error(solve("--guess", first.output_path, name="second"), 1, first.output_path, "1 vectors", "3")


def test_beta_below_zero(staghorn, expect_error, tmp_path):
    result = staghorn("generate", "--lattice", 4, 4, 4, 4, "--beta", -1, "--sweeps", 1, "--output", tmp_path / "g")
    expect_error(result, 1, "beta", "-1")


def test_odd_extents(staghorn, expect_error, tmp_path):
    result = staghorn("generate", "--lattice", 4, 4, 5, 4, "--sweeps", 0, "--output", tmp_path / "g")
    expect_error(result, 1, "even", "4x4x5x4")
