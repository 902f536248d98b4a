"""Files are called by what they are: compressed ones, datasets of HDF5 by name, and formats by the endings of names."""

from __future__ import annotations

import gzip
import io
import json

import h5py
import numpy as np
import pytest
from solve_files import read_solution

POINT = ["--mass", 0.5, "--color", 0]


@pytest.fixture(scope="module")
def solution(staghorn, small_gauge, tmp_path_factory):
    """A solution in HDF5, of a point source and one colour."""
    path = tmp_path_factory.mktemp("solution") / "x.h5"
    staghorn("solve", "--gauge", small_gauge, *POINT, "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def foreign_links(small_gauge, tmp_path_factory):
    """An HDF5 file as others write them: links in a group, beside an ensemble's other data."""
    path = tmp_path_factory.mktemp("foreign") / "ensemble.h5"
    with h5py.File(small_gauge) as ours, h5py.File(path, "w") as file:
        file["lattice/U"] = ours["links"][()]
        for name, value in ours["links"].attrs.items():
            file["lattice/U"].attrs[name] = value
        file["plaquettes"] = np.zeros(3)
    return path


def in_numpy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize("pack, words", [
    (gzip.compress, ["gzip", "gunzip"]),
    (lambda content: in_numpy(np.frombuffer(content, np.uint8)), ["NumPy's header", "complex numbers", "'|u1'"]),
], ids=["gzip", "npy"])
def test_packed_files_are_called_by_their_name(staghorn, small_gauge, solution, expect_error, tmp_path, pack, words):
    links, vectors = tmp_path / "links.h5", tmp_path / "vectors.h5"
    links.write_bytes(pack(small_gauge.read_bytes()))
    vectors.write_bytes(pack(solution.read_bytes()))
    expect_error(staghorn("inspect", links), 1, links, *words)
    if pack is gzip.compress:
        packed = links.rename(tmp_path / "links.h5.gz")
        expect_error(staghorn("inspect", packed), 1, f"{packed}: expected a gauge configuration, colour vectors or eigenvectors", f"`gunzip {packed}`")
        packed.rename(links)
    expect_error(staghorn("solve", "--gauge", links, *POINT), 1, links, *words)
    expect_error(staghorn("solve", "--gauge", small_gauge, *POINT, "--source", f"file:{vectors}"), 1, vectors, *words)


def test_links_of_any_dataset_have_the_same_solution(staghorn, foreign_links, solution, tmp_path):
    staghorn("solve", "--gauge", foreign_links, "--dataset", "lattice/U", *POINT, "--output", tmp_path / "x.h5", check=True)
    assert np.array_equal(read_solution(tmp_path / "x.h5"), read_solution(solution))


def test_other_commands_read_any_dataset(staghorn, small_gauge, foreign_links, tmp_path):
    named = json.loads(staghorn("inspect", foreign_links, "--dataset", "/lattice/U", "--json", check=True).stdout)
    assert named["intact"] and named["lattice"] == [4, 6, 8, 10]
    staghorn("convert", foreign_links, tmp_path / "links.h5", "--dataset", "lattice/U", check=True)
    with h5py.File(tmp_path / "links.h5") as found, h5py.File(small_gauge) as expected:
        assert np.array_equal(found["links"][()], expected["links"][()])


@pytest.mark.parametrize("name, words", [
    (None, ["dataset links", "found lattice, plaquettes", "--dataset"]),
    ("V", ["dataset V", "found lattice, plaquettes", "--dataset"]),
    ("lattice", ["dataset lattice", "a group with lattice/U", "--dataset"]),
    ("lattice/V", ["dataset lattice/V", "found lattice/U", "--dataset"]),
    ("lattice/U/x", ["dataset lattice/U/x", "a dataset lattice/U"]),
    ("plaquettes", ["plaquettes", "complex numbers"]),
    ("", ["dataset ", "found lattice, plaquettes"]),
])
def test_an_absent_dataset_is_told_beside_those_that_are_there(staghorn, foreign_links, expect_error, name, words):
    option = [] if name is None else ["--dataset", name]
    expect_error(staghorn("solve", "--gauge", foreign_links, *option, *POINT), 1, foreign_links, *words)


def test_a_dataset_belongs_to_hdf5_and_to_thin_links(staghorn, small_gauge, expect_error, tmp_path):
    nersc = tmp_path / "links.nersc"
    staghorn("convert", small_gauge, nersc, check=True)
    expect_error(staghorn("solve", "--gauge", nersc, "--dataset", "links", *POINT), 1, "--dataset: expected an HDF5 file", nersc)
    expect_error(staghorn("solve", "--fat", "f", "--long", "l", "--dataset", "links", *POINT), 2, "--dataset: expected thin links")


def test_a_solution_is_a_source(staghorn, small_gauge, solution, tmp_path):
    """Two solves one after the other are M^-2 b, whichever name the file of the first gives its vectors."""
    with h5py.File(solution) as file, h5py.File(tmp_path / "b.h5", "w") as copy:
        copy["source"] = file["solution"][()]
    for name, path, options in [("from-solution", solution, []), ("from-source", tmp_path / "b.h5", ["--no-verify"])]:
        staghorn("solve", "--gauge", small_gauge, *POINT, "--source", f"file:{path}", "--output", tmp_path / f"{name}.h5", *options,
                 check=True)
    first, second = (read_solution(tmp_path / f"{name}.h5") for name in ("from-solution", "from-source"))
    assert np.array_equal(first, second) and not np.array_equal(first, read_solution(solution))


def test_a_damaged_source_is_not_passed_over_for_a_solution(staghorn, small_gauge, solution, expect_error, tmp_path):
    both = tmp_path / "both.h5"
    with h5py.File(solution) as file, h5py.File(both, "w") as copy:
        copy["solution"] = file["solution"][()]
        copy["source"] = np.zeros(3)
    expect_error(staghorn("solve", "--gauge", small_gauge, *POINT, "--source", f"file:{both}", "--no-verify"), 1, both, "dataset source")


def test_inspect_explains_a_solution(staghorn, solution, small_gauge):
    text = staghorn("inspect", solution, check=True).stdout
    for words in ("M x = b, M = 2m + D, naive quarks, m = 0.5", "point:0,0,0,0", str(small_gauge), "certified, asked for 1e-10"):
        assert words in text, words
    found = json.loads(staghorn("inspect", solution, "--json", check=True).stdout)["solution"]
    assert found["masses"] == [0.5] and found["outcome"] == "certified" and len(found["iterations"]) == 1
    assert 0 < found["residual_true"][0] <= found["tolerance"][0] == 1e-10


def test_inspect_explains_a_checkpoint(staghorn, small_gauge, tmp_path):
    state = tmp_path / "state.h5"
    staghorn("solve", "--gauge", small_gauge, *POINT, "--output", tmp_path / "x.h5", "--checkpoint", state, "--checkpoint-every", 0, "--keep-checkpoint",
             check=True)
    text = staghorn("inspect", state, check=True).stdout
    for words in ("system full, m = 0.5, solver mixed", "to 1e-10", "iterations; --resume goes on from it", "suma        match"):
        assert words in text, text
    assert "state_0" not in text and len(text) < 4000
    found = json.loads(staghorn("inspect", state, "--json", check=True).stdout)
    assert found["dataset"] == "checkpoint" and found["checkpoint"]["iterations"] > 3 and found["checkpoint"]["mass"] == "0.5"
    content = bytearray(state.read_bytes())
    content[5000] ^= 1
    state.write_bytes(content)
    assert staghorn("inspect", state).returncode == 1


@pytest.mark.parametrize("name, format", [
    ("q.nersc", "nersc"), ("q.MILC", "milc"), ("q.ildg", "ildg"), ("q.scidac", "scidac"), ("q.lime", "scidac"),
    ("q.openqcd", "openqcd"), ("q.kyu", "kyu"), ("q.npy", "npy"), ("q.h5", "hdf5"), ("q.hdf5", "hdf5"), ("q", "hdf5"), ("l8888", "hdf5"),
])
def test_links_are_written_in_the_format_of_their_name(staghorn, tmp_path, name, format):
    result = staghorn("generate", "--lattice", "4x4x4x4", "--start", "cold", "--output", tmp_path / name, check=True)
    assert f"({format}, " in result.stdout
    starts = {"openqcd": b"\4\0\0\0" * 4, "kyu": b"\x3f\xf0\0\0", "npy": b"\x93NUMPY", "nersc": b"BEGIN_HEADER", "milc": b"\x87\x4e\0\0", "hdf5": b"\x89HDF"}
    assert (tmp_path / name).read_bytes().startswith(starts.get(format, b"\x45\x67\x89\xab"))


@pytest.mark.parametrize("command, name, words", [
    ("generate", "q.txt", [".txt", "--format hdf5"]), ("generate", "q.h5.gz", [".gz"]), ("convert", "q.json", [".json", "--format"]),
    ("convert", "q", ["--format is required", "'q'", ".nersc"]), ("solve", "x.json", [".json", "--output-format hdf5, scidac, npy or fnal"]),
    ("solve", "x.NPZ", [".npz"]), ("solve", "x.milc", ["'.milc', a format of links", "--output-format"]),
    ("smear", "f.nersc", ["scidac or hdf5", "'nersc'"]),
])
def test_a_name_that_would_lie_is_refused(staghorn, small_gauge, expect_error, tmp_path, command, name, words):
    options = {"generate": ["--lattice", "4x4x4x4", "--output", name], "convert": [small_gauge, name],
               "solve": ["--gauge", small_gauge, *POINT, "--output", name],
               "smear": ["--gauge", small_gauge, "--action", "hisq", "--fat", name, "--long", "l.nersc"]}
    expect_error(staghorn(command, *options[command], cwd=tmp_path), 2, *words)
    assert not list(tmp_path.iterdir())


def test_the_format_asked_for_wins_over_the_name(staghorn, small_gauge, tmp_path):
    staghorn("convert", small_gauge, tmp_path / "q.npy", "--format", "nersc", check=True)
    assert "nersc," in staghorn("inspect", tmp_path / "q.npy", check=True).stdout


def test_convert_to_a_lesser_precision_says_what_to_add(staghorn, small_gauge, expect_error, tmp_path):
    expect_error(staghorn("convert", small_gauge, tmp_path / "q.milc"), 1, "fp32", "found fp64", "--precision fp32")
    staghorn("convert", small_gauge, tmp_path / "q.milc", "--precision", "fp32", check=True)
