"""Files whose checksums are right and whose numbers are not: NaN, infinities, zeros. The status says so, and no such file is written."""

from __future__ import annotations

import json

import h5py
import numpy as np
import numpy_formats as formats
import pytest
import staghorn as sh

SHAPE = (10, 8, 6, 4)
PLACES = {"nan": (np.nan, "1 of 7680 links have NaN or infinity"), "infinity": (np.inf, "1 of 7680 links have NaN or infinity"),
          "huge": (1e300, "1 of 7680 links have numbers above 1e10"),
          "large": (1e30, "1 of 7680 links have numbers above 1e10")}
WRITERS = {"ildg": lambda u: formats.ildg_file(u, 64), "scidac": lambda u: formats.scidac_file(u, 64), "milc": formats.milc_file}


def spoilt(links, value):
    made = links.copy()
    made[1, 2, 3, 1, 2, 0, 1] = value
    return made


def zeroed(links, how):
    made = links.copy()
    made[()] = 0 if how == "all" else made
    made[1, 2, 3, 1, 2] = made[1, 2, 3, 1, 2] * 1e-320 if how == "tiny" else 0
    return made


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("option", [(), ("--no-verify",)], ids=["", "no-verify"])
@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("value", PLACES)
def test_inspect_ends_with_an_error_for_links_that_are_not_finite(value, format, option, links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links"
    number, words = PLACES["infinity" if value == "huge" and format == "milc" else value]  # MILC's files hold fp32
    path.write_bytes(WRITERS[format](spoilt(links, number)))
    text = staghorn("inspect", path, *option)
    expect_error(text, 1, path, words)
    assert words in text.stdout and "FAULT" in text.stdout
    found = staghorn("inspect", path, "--json", *option)
    expect_error(found, 1, path, words)
    report = json.loads(found.stdout)
    assert words in report["fault"] and report["intact"] is False and report["verified"] is False
    assert all(check["match"] for check in report["checksums"].values())
    if value == "nan":
        assert report["plaquette"] is None and report["link_trace"] == [None, None] and report["finite"] is False


@pytest.mark.mpi
def test_several_ranks_find_the_same_fault(links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links"
    path.write_bytes(formats.ildg_file(spoilt(links, np.nan), 64))
    expect_error(staghorn("inspect", path, ranks=3), 1, path, PLACES["nan"][1])


@pytest.mark.parametrize("how, words", [("all", "7680 of 7680 links are zero"), ("one", "1 of 7680 links are zero"),
                                        ("tiny", "1 of 7680 links have numbers below 1e-10 only")])
def test_inspect_ends_with_an_error_for_links_that_are_zero(how, words, links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links"
    path.write_bytes(formats.scidac_file(zeroed(links, how), 64))
    expect_error(staghorn("inspect", path), 1, path, words)
    expect_error(staghorn("convert", path, tmp_path / "made.h5"), 1, "made.h5", words)
    assert not (tmp_path / "made.h5").exists()


@pytest.mark.parametrize("output", ["a.h5", "a.openqcd", "a.milc", "a.scidac", "a.npy", "a.kyu", "a.pyquda", "a.nersc", "a.ildg"])
def test_convert_writes_no_file_that_would_be_refused(output, links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links"
    path.write_bytes(formats.ildg_file(spoilt(links, np.nan), 64))
    options = ["--precision", "fp32"] if output.endswith("milc") else []
    expect_error(staghorn("convert", path, tmp_path / output, *options), 1, tmp_path / output, PLACES["nan"][1])
    assert [one.name for one in tmp_path.iterdir()] == ["links"]


def test_a_number_that_fp32_cannot_hold_is_not_written(links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links"
    path.write_bytes(formats.scidac_file(spoilt(links, 1e45), 64))
    expect_error(staghorn("convert", path, tmp_path / "a.milc", "--precision", "fp32"), 1, "finite in fp32", "NaN or infinity")
    expect_error(staghorn("convert", path, tmp_path / "a.scidac"), 1, "a.scidac", "1 of 7680 links have numbers above 1e10")


@pytest.mark.parametrize("number, words", [(np.nan, "vector 1 has NaN or infinity among its numbers at 1 sites"),
                                           (None, "vector 1 is zero at every site")], ids=["nan", "zero"])
def test_vectors_that_are_not_sound_are_told(number, words, staghorn, expect_error, tmp_path):
    vectors = np.random.default_rng(3).normal(size=(3, *SHAPE, 3)) + 0j
    vectors[1, 2, 3, 4, 1, 2] = number
    if number is None:
        vectors[1] = 0
    path = formats.h5py_file(tmp_path / "v.h5", "source", vectors)
    found = staghorn("inspect", path, "--json", "--no-verify")
    expect_error(found, 1, path, words)
    assert json.loads(found.stdout)["fault"] == words and not json.loads(found.stdout)["intact"]
    with pytest.raises(sh.Error, match=words):
        sh.read_vectors(path)
    read, info = sh.read_vectors(path, verify=False)
    assert info["fault"] == words and np.array_equal(read, vectors, equal_nan=True)
    with pytest.raises(sh.Error, match=words):
        sh.write_vectors(tmp_path / "made.h5", vectors)
    assert not (tmp_path / "made.h5").exists()
    vectors[1] = 1
    sh.write_vectors(tmp_path / "made.h5", vectors)
    assert sh.read_vectors(tmp_path / "made.h5")[1]["fault"] is None


def test_python_reads_and_writes_no_links_that_are_not_sound(links, tmp_path):
    path = tmp_path / "links"
    path.write_bytes(formats.ildg_file(spoilt(links, np.nan), 64))
    with pytest.raises(sh.Error, match=PLACES["nan"][1]):
        sh.read_gauge(path)
    assert PLACES["nan"][1] in sh.read_gauge(path, verify=False)[1]["fault"]
    context = sh.Context((4, 6, 8, 10))
    with pytest.raises(sh.Error, match=PLACES["nan"][1]):
        context.read_links(path)
    assert np.isnan(context.read_links(path, verify=False)).any()
    with pytest.raises(sh.Error, match=PLACES["nan"][1]):
        sh.write_gauge(tmp_path / "made.h5", spoilt(links, np.nan))
    assert not (tmp_path / "made.h5").exists()


def test_eigenvectors_that_are_not_of_norm_1_are_told(staghorn, small_gauge, expect_error, tmp_path):
    path = tmp_path / "pairs.h5"
    staghorn("eigen", "--gauge", small_gauge, "--pairs", 2, "--tolerance", 1e-3, "--output", path, "--quiet")
    assert path.exists()
    staghorn("inspect", path, check=True)
    for number in (np.nan, 0):
        with h5py.File(path, "r+") as file:
            file["eigenvectors"][1] = number
            for name, value in formats.h5py_checksums(file["eigenvectors"][()]).items():
                del file["eigenvectors"].attrs[name]
                file["eigenvectors"].attrs[name] = np.bytes_(value)
        found = staghorn("inspect", path, "--json")
        expect_error(found, 1, path, "expected norm 1", "| |v|^2 - 1 |")
        assert json.loads(found.stdout)["intact"] is False
