"""Eigenvalues of -D^2 on real configurations against an independent code and MILC's, with the operator calls that they take."""

from __future__ import annotations

import json

import pytest
from program_under_test import ROOT

pytestmark = pytest.mark.reference

SHIPPED = ROOT / "configs" / "quenched_8x8x8x16_b5.70.nersc"
# MILC's ks_spectrum with HISQ quarks on lat.sample.l8888, to the seven digits that its check of the eigenpairs prints.
MILC_HISQ = [0.1333053, 0.1366105, 0.1534183, 0.1576105, 0.1782401, 0.1880117, 0.1983056, 0.2038864, 0.2365126, 0.2394282]


@pytest.fixture(scope="module")
def eigen(staghorn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("eigen")

    def run(pairs, *options, **how):
        staghorn("eigen", "--pairs", pairs, *options, "--report", folder / "e.json", "--force", check=True, **how)
        report = json.loads((folder / "e.json").read_text())
        assert report["outcome"] == "certified"
        return report

    return run


def assert_same_ends(report, spectrum):
    n = len(spectrum["lowest"])
    assert report["eigenvalues"][:n] == pytest.approx(spectrum["lowest"], rel=1e-9, abs=1e-9)
    assert report["largest_eigenvalue"]["value"] == pytest.approx(spectrum["max"], rel=1e-9)


@pytest.mark.parametrize("name", ["lat.sample.l8888", "lat.sample.l4448", "lat.sample.l4444.ildg", "GF_555_6.1"])
def test_ends_of_the_naive_spectrum(eigen, expected, reference_data, name):
    report = eigen(12, "--gauge", reference_data / name)
    assert_same_ends(report, expected(name)["cg"]["naive"]["spectrum_minusD2_even"])


def test_ends_of_the_spectrum_of_stored_links(eigen, reference_data):
    report = eigen(12, "--fat", reference_data / "fat.l8", "--long", reference_data / "long.l8")
    assert_same_ends(report, json.loads((reference_data / "reference.json").read_text())["improved_fat_long_l8"]["spectrum_minusD2_even"])


def test_256_pairs_of_hisq_quarks(eigen, expected, reference_data):
    """MILC re-unitarises links on reading; the independent code takes them as they are."""
    report = eigen(256, "--gauge", reference_data / "lat.sample.l8888", "--action", "hisq", "--reunitarize")
    assert report["calls"] <= 16000
    assert report["eigenvalues"][:10] == pytest.approx(MILC_HISQ, abs=6e-8)
    plain = eigen(8, "--gauge", reference_data / "lat.sample.l8888", "--action", "hisq")
    assert_same_ends(plain, expected("lat.sample.l8888")["cg"]["hisq"]["spectrum_minusD2_even"])


def test_128_pairs_of_the_shipped_configuration_with_nothing_given(eigen):
    report = eigen(128, "--gauge", SHIPPED)
    assert report["calls"] <= 8000 and report["polynomial"]["widened"] == 0
    values = report["eigenvalues"]
    assert values[0] == pytest.approx(2.014e-6, rel=1e-3)
    assert values[7] == pytest.approx(4.08e-4, rel=1e-2) and values[127] == pytest.approx(0.0651, rel=1e-2)
    assert report["largest_eigenvalue"]["value"] == pytest.approx(20.40, rel=1e-3)
