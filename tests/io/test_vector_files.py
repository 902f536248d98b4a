"""Colour vectors in files: sources in every layout, checksums of solutions."""

from __future__ import annotations

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
    with h5py.File(folder / "source.h5", "w") as file:
        file["source"] = vectors
    return solve(staghorn, folder, small_gauge, "--source", f"file:{folder / 'source.h5'}", *QUICK)[1]


def checksums(array: np.ndarray) -> dict[str, str]:
    suma, sumb = formats.scidac_checksums(np.ascontiguousarray(array).tobytes(), 3 * array.itemsize)
    return {"suma": f"{suma:08x}", "sumb": f"{sumb:08x}"}


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
    with h5py.File(path, "w") as file:
        file.create_dataset("source", data=vectors.astype(options.get("dtype", complex)), **options)
        file["source"].attrs.update(checksums(vectors.astype(np.complex64 if variant == "single" else complex)))
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
        for name, value in checksums(dataset[...]).items():
            assert dataset.attrs[name].decode() == value


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
def test_source_with_flipped_bit_is_refused(kind, ranks, staghorn, small_gauge, vectors, tmp_path):
    path = tmp_path / "source"
    if kind == "hdf5":
        with h5py.File(path, "w") as file:
            file["source"] = vectors
            file["source"].attrs.update(checksums(vectors))
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


def test_gauge_file_is_no_source(staghorn, small_gauge, links, tmp_path):
    path = tmp_path / "links.scidac"
    path.write_bytes(formats.scidac_file(links))
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK)
    assert result.returncode == 1 and "ColorVector" in result.stderr and "ColorMatrix" in result.stderr
