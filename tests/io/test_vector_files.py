"""Colour vectors in files: sources in every layout, checksums of solutions."""

from __future__ import annotations

import json

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from solve_files import solve

SHAPE = (10, 8, 6, 4, 3)
QUICK = ["--mass", 1.0, "--tolerance", 1e-8]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Two sources [2, T, Z, Y, X, 3] whose numbers are exact in fp32."""
    generator = np.random.default_rng(5)
    return (generator.integers(-99, 99, (2, *SHAPE)) + 1j * generator.integers(-99, 99, (2, *SHAPE))).astype(complex)


@pytest.fixture(scope="module")
def expected(staghorn, small_gauge, vectors, tmp_path_factory) -> np.ndarray:
    folder = tmp_path_factory.mktemp("expected")
    formats.h5py_file(folder / "source.h5", "source", vectors)
    return solve(staghorn, folder, small_gauge, "--source", f"file:{folder / 'source.h5'}", *QUICK)[1]


VARIANTS = {
    "single": {"dtype": np.complex64},
    "compressed": {"chunks": (1, 5, 3, 6, 4, 3), "compression": "gzip"},
    "big-endian": {"dtype": np.dtype(">c16")},
    "many-chunks-with-fletcher32": {"chunks": (2, 3, 8, 5, 3, 2), "compression": "gzip", "shuffle": True, "fletcher32": True},
}


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_source_is_read_from_any_layout(variant, ranks, staghorn, small_gauge, vectors, expected, tmp_path):
    path = tmp_path / "source.h5"
    options = VARIANTS[variant]
    formats.h5py_file(path, "source", vectors.astype(options.get("dtype", complex)), **options)
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)[1]
    assert solution.tobytes() == expected.tobytes()


@pytest.mark.parametrize("bits", [32, 64])
def test_source_is_read_from_scidac(bits, staghorn, small_gauge, vectors, expected, tmp_path):
    path = tmp_path / "source.scidac"
    path.write_bytes(formats.scidac_vector_file(vectors[1], bits))
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK)[1]
    assert solution.shape == (1, *SHAPE)
    assert solution[0].tobytes() == expected[1].tobytes()


def test_solution_carries_its_checksum(staghorn, small_gauge, tmp_path):
    solve(staghorn, tmp_path, small_gauge, "--source", "point:0,0,0,0", "--color", "all", *QUICK)
    with h5py.File(tmp_path / "solve.h5") as file:
        dataset = file["solution"]
        assert dataset.shape == (3, *SHAPE) and dataset.dtype == np.complex128
        for name, value in formats.h5py_checksums(dataset[...]).items():
            assert dataset.attrs[name].decode() == value


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
def test_source_with_flipped_bit_is_refused(kind, ranks, staghorn, small_gauge, vectors, tmp_path):
    path = tmp_path / "source"
    if kind == "hdf5":
        formats.h5py_file(path, "source", vectors)
    else:
        path.write_bytes(formats.scidac_vector_file(vectors[0]))
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 1
    path.write_bytes(content)
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)
    assert result.returncode == 1
    assert str(path) in result.stderr and "stored" in result.stderr and "computed" in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (np.zeros((1, 10, 8, 6, 6, 3), complex), ["4x6x8x10", "6x6x8x10"]),
        (np.zeros((1, 10, 8, 6, 4, 2), complex), ["(n_rhs, T, Z, Y, X, 3)"]),
        (np.zeros((1, 10, 8, 6, 4, 3)), ["complex"]),
    ],
    ids=["extents", "colours", "real"],
)
def test_wrong_source_is_refused(content, words, staghorn, small_gauge, tmp_path):
    path = tmp_path / "source.h5"
    with h5py.File(path, "w") as file:
        file["source"] = content
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK)
    assert result.returncode == 1
    assert all(word in result.stderr for word in (str(path), *words))


@pytest.mark.parametrize("kind", ["source", "guess", "scidac-source"])
def test_vectors_without_checksums_are_refused_unless_no_verify_says_otherwise(kind, staghorn, small_gauge, vectors, tmp_path):
    path = tmp_path / "vectors"
    if kind == "scidac-source":
        path.write_bytes(formats.scidac_vector_file(vectors[0], checksum=False))
    else:
        with h5py.File(path, "w") as file:
            file["solution" if kind == "guess" else "source"] = vectors[:1]
    given = ["--guess", path, "--color", 0] if kind == "guess" else ["--source", f"file:{path}"]
    command = ["solve", "--gauge", small_gauge, *given, *QUICK, "--report", tmp_path / "report.json"]
    result = staghorn(*command)
    assert result.returncode == 1 and str(path) in result.stderr and "no suma (computed" in result.stderr
    assert "verify" in result.stderr and not (tmp_path / "report.json").exists()
    result = staghorn(*command, "--no-verify", check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verified"] is False and report["gauge"]["verified"] is True
    assert len(report["unverified"]) == 2 and str(path) in report["unverified"][0]
    assert "UNVERIFIED INPUT" in result.stdout and str(path) in result.stdout


def test_gauge_file_is_no_source(staghorn, small_gauge, links, tmp_path):
    path = tmp_path / "links.scidac"
    path.write_bytes(formats.scidac_file(links))
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK)
    assert result.returncode == 1 and "ColorVector" in result.stderr and "ColorMatrix" in result.stderr
