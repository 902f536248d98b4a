"""Solves with stored fat and long links: what is taken out of them, and pairs that are refused."""

from __future__ import annotations

import json

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from solve_files import with_checksums

SOLVE = ["--mass", 0.5, "--source", "point:1,2,3,4", "--color", 1]


@pytest.fixture(scope="module")
def pair(staghorn, rough_gauge, tmp_path_factory):
    """pair(*options) -> (fat, long), smeared from the rough configuration and remembered."""
    done = {}

    def run(*options, action="hisq", gauge=rough_gauge):
        key = (action, gauge, *options)
        if key not in done:
            folder = tmp_path_factory.mktemp("pair")
            staghorn("smear", "--gauge", gauge, "--action", action, *options, "--fat", folder / "fat", "--long", folder / "long", check=True)
            done[key] = folder / "fat", folder / "long"
        return done[key]

    return run


@pytest.fixture(scope="module")
def answer(staghorn, tmp_path_factory):
    """answer(links, *options, ranks=1) -> report and solution; links are options that name them."""

    def run(*links, ranks=1):
        folder = tmp_path_factory.mktemp("answer")
        staghorn("solve", *links, *SOLVE, "--output", folder / "x.h5", "--report", folder / "x.json", ranks=ranks, check=True)
        with h5py.File(folder / "x.h5") as file:
            return json.loads((folder / "x.json").read_text()), file["solution"][...]

    return run


def files(fat_and_long):
    return ["--fat", fat_and_long[0], "--long", fat_and_long[1]]


@pytest.fixture(scope="module")
def from_thin(answer, rough_gauge):
    return answer("--gauge", rough_gauge, "--action", "hisq")


@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
@pytest.mark.parametrize("phases", ["none", "cps", "milc"])
def test_stored_links_give_the_answer_of_their_thin_links(answer, pair, from_thin, phases, kind):
    report, solution = answer(*files(pair("--phases-in-links", phases, "--format", kind)))
    assert report["improved"]["phases_in_links"] == phases and report["action"] == "hisq"
    assert report["improved"]["naik_scale"] == pytest.approx(-1 / 24, rel=1e-15)
    assert np.abs(solution - from_thin[1]).max() < 1e-9 * np.abs(from_thin[1]).max()


@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
def test_pairs_that_other_writers_wrote_give_the_same_bits(answer, pair, tmp_path, kind):
    """Links alone, with no word of what they are: by h5py in HDF5, by numpy_formats in SciDAC."""
    fat_and_long, foreign = pair("--phases-in-links", "milc"), (tmp_path / "fat", tmp_path / "long")
    for ours, path in zip(fat_and_long, foreign):
        with h5py.File(ours) as file:
            links = file["links"][...]
        if kind == "hdf5":
            formats.h5py_file(path, "links", links)
        else:
            path.write_bytes(formats.scidac_file(links, bits=64))
    report, solution = answer(*files(foreign))
    assert report["improved"]["phases_in_links"] == "milc"
    assert solution.tobytes() == answer(*files(fat_and_long))[1].tobytes()


@pytest.mark.mpi
def test_solutions_with_stored_links_have_the_same_bits_on_any_grid(answer, pair):
    links = files(pair("--phases-in-links", "milc", "--precision", "fp32"))
    whole = answer(*links)[1].tobytes()
    for ranks, options in ((1, ["--loopback", "xyzt"]), (2, ["--grid", "1,1,2,1"]), (2, ["--grid", "1,1,2,1", "--loopback", "t"])):
        assert answer(*links, *options, ranks=ranks)[1].tobytes() == whole


def changed(path, folder, change, name="changed"):
    """A copy of an HDF5 file of links, changed in memory, with checksums that fit."""
    new = folder / name
    with h5py.File(path) as old, h5py.File(new, "w") as file:
        old.copy("links", file)
        links = file["links"][...]
        file["links"][...] = change(links)
        for key in ("plaquette", "link_trace"):
            del file["links"].attrs[key]
        with_checksums(file["links"])
    return new


def refused(staghorn, expect_error, *words, options=(), fat, naik, status=1):
    expect_error(staghorn("solve", "--fat", fat, "--long", naik, *options, *SOLVE), status, *words)


def test_a_long_link_that_is_no_multiple_of_a_unitary_one_refuses_compression(staghorn, expect_error, pair, answer, tmp_path):
    fat, naik = pair()

    def scale_one(links):
        links[3, 2, 1, 0, 2] *= 1.01
        return links

    odd = changed(naik, tmp_path, scale_one)
    for reals in (13, 9):
        refused(staghorn, expect_error, "--naik-links", "18 reals", "|N N^dagger - 1| up to 0.02", fat=fat, naik=odd, options=["--naik-links", reals])
    report, _ = answer("--fat", fat, "--long", odd, "--sloppy", "fp32")
    assert report["outcome"] == "certified" and report["sloppy_naik_links"] == 18
    assert report["improved"]["naik_unitarity"] == pytest.approx(0.0201, rel=1e-2)


def test_pairs_that_do_not_belong_together_are_refused(staghorn, expect_error, pair, tmp_path):
    fat, naik = pair()
    other = tmp_path / "other.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--beta", 6, "--sweeps", 10, "--seed", 6, "--device", "cpu", "--output", other, check=True)
    _, naik_of_other = pair(gauge=other)
    refused(staghorn, expect_error, fat, naik_of_other, "no pair", "thin_", fat=fat, naik=naik_of_other)
    refused(staghorn, expect_error, "no pair", "action", fat=fat, naik=pair(action="asqtad")[1])
    refused(staghorn, expect_error, "no pair", "naik_epsilon", fat=fat, naik=pair("--naik-epsilon", -0.1)[1])
    refused(staghorn, expect_error, "fat links", "long links", fat=naik, naik=fat)
    refused(staghorn, expect_error, "two different files", fat=fat, naik=fat, status=2)
    # The same without descriptions: the links themselves tell.
    silent = []
    for k, path in enumerate((fat, naik_of_other, naik)):
        silent.append(changed(path, tmp_path, lambda links: links, f"silent{k}"))
        with h5py.File(silent[-1], "r+") as file:
            for key in [key for key in file["links"].attrs if key not in ("suma", "sumb")]:
                del file["links"].attrs[key]
    refused(staghorn, expect_error, "no pair", "likeness", fat=silent[0], naik=silent[1])
    refused(staghorn, expect_error, "swapped", fat=silent[2], naik=silent[0])


def test_links_of_another_lattice_are_refused(staghorn, expect_error, pair, tmp_path):
    small = tmp_path / "small.h5"
    staghorn("generate", "--lattice", 4, 4, 4, 8, "--start", "cold", "--output", small, check=True)
    refused(staghorn, expect_error, "different lattices", "4x6x8x10", "4x4x4x8", fat=pair()[0], naik=pair(gauge=small)[1])


def test_phases_that_do_not_fit_are_refused(staghorn, expect_error, pair):
    milc, none = pair("--phases-in-links", "milc"), pair()
    for fat_and_long, said, found in ((milc, "cps", "milc"), (milc, "none", "milc"), (none, "milc", "none")):
        refused(staghorn, expect_error, "--phases-in-links", said, found, fat=fat_and_long[0], naik=fat_and_long[1], options=["--phases-in-links", said])
    refused(staghorn, expect_error, "no pair", fat=milc[0], naik=none[1])


def test_boundary_signs_in_the_links_have_to_be_those_of_the_solve(staghorn, expect_error, pair):
    fat, naik = pair("--phases-in-links", "milc")
    refused(staghorn, expect_error, "--boundary", "antiperiodic", fat, fat=fat, naik=naik, options=["--boundary", "periodic,periodic,periodic,periodic"])


@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
@pytest.mark.parametrize("damage", ["flipped", "truncated"])
def test_damaged_links_are_refused(staghorn, expect_error, pair, tmp_path, kind, damage):
    fat, naik = pair("--format", kind)
    for k in range(2):
        content = bytearray((fat, naik)[k].read_bytes())
        if damage == "flipped":
            content[len(content) // 2] ^= 1
        else:
            del content[len(content) // 2 :]
        damaged = tmp_path / f"{k}"
        damaged.write_bytes(content)
        given = [damaged, naik] if k == 0 else [fat, damaged]
        refused(staghorn, expect_error, damaged, *(["stored", "computed"] if damage == "flipped" else []), fat=given[0], naik=given[1])


def test_a_configuration_is_no_pair(staghorn, expect_error, pair, tmp_path, rough_gauge):
    milc = tmp_path / "thin.milc"
    staghorn("convert", rough_gauge, milc, "--format", "milc", "--precision", "fp32", check=True)
    refused(staghorn, expect_error, milc, "fat or long links", fat=milc, naik=pair()[1])
