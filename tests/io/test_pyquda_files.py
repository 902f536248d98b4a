"""PyQUDA's gauge files in HDF5, in every form that h5py can give them."""

from __future__ import annotations

import h5py
import numpy as np
import numpy_formats as formats
import pytest


@pytest.mark.parametrize("form, names, options", [
    ("numbers", "0123", {}),
    ("letters", "XYZT", {}),
    ("single", "xyzt", {"dtype": np.complex64}),
    ("chunks", "1234", {"chunks": (5, 4, 3, 4, 3, 3), "compression": "gzip"}),
])
def test_pyquda_hdf5_is_read(form, names, options, links, read_links, inspect, tmp_path):
    path = formats.pyquda_hdf5_file(tmp_path / "links.h5", links, names, **options)
    expected = links.astype(options.get("dtype", complex)).astype(complex)
    assert np.array_equal(read_links(path), expected)
    found = inspect(path)["checksums"]
    assert len(found) == 8 and all(result["match"] for result in found.values())


def read_as_pyquda(path):
    """PyQUDA's rules in h5py: texts are str, a sum is eight digits, the extents are the group's."""
    with h5py.File(path) as file:
        group = file["LatticeColorMatrix"]
        assert list(group) == sorted("XYZT") and int(group.attrs["Color"]) == 3
        x, y, z, t = map(int, group.attrs["Lattice"].split())
        links = []
        for name in "XYZT":
            data = group[name][: t, : z, : y, : x]
            assert data.shape == (t, z, y, x, 3, 3)
            words = np.bitwise_xor.reduce(data.view("<u4").reshape(data.size // 9, -1), axis=1)
            for period in (29, 31):
                rotated = formats.rotated_left(words, np.arange(words.size) % period)
                assert group[name].attrs[f"sum{period}"] == f"{int(np.bitwise_xor.reduce(rotated)):08x}"
            links.append(data)
    return np.stack(links, axis=4)


@pytest.mark.parametrize("precision, ranks", [("fp64", 1), ("fp32", 1), pytest.param("fp64", 4, marks=pytest.mark.mpi)])
def test_pyquda_hdf5_is_written(precision, ranks, links, staghorn, read_links, tmp_path):
    source, path = formats.h5py_file(tmp_path / "links.h5", "links", links), tmp_path / "links.pyquda"
    staghorn("convert", source, path, "--precision", precision, ranks=ranks, check=True)
    found = read_as_pyquda(path)
    assert np.array_equal(found, links.astype(found.dtype)) and found.dtype == (np.complex64 if precision == "fp32" else complex)
    assert np.array_equal(read_links(path), found)
    with h5py.File(path, "r+") as file:  # other programs may add to it
        file["LatticeColorMatrix"].attrs["Note"] = "more"
        file["LatticeColorMatrix/X"].attrs["Note"] = "more"
    assert np.array_equal(read_links(path), found)


def test_reading_by_the_rules_of_pyquda_can_fail(links, staghorn, tmp_path):
    source, path = formats.h5py_file(tmp_path / "links.h5", "links", links), tmp_path / "links.pyquda"
    staghorn("convert", source, path, check=True)
    with h5py.File(path, "r+") as file:
        damaged_number(file)
    with pytest.raises(AssertionError):
        read_as_pyquda(path)


@pytest.mark.mpi
def test_pyquda_hdf5_does_not_depend_on_the_ranks(links, read_links, tmp_path):
    path = formats.pyquda_hdf5_file(tmp_path / "links.h5", links)
    assert np.array_equal(read_links(path, ranks=4), links)


def test_pyquda_group_of_another_name_is_named(links, read_links, tmp_path):
    path = formats.pyquda_hdf5_file(tmp_path / "links.h5", links)
    with h5py.File(path, "r+") as file:
        file.move("LatticeColorMatrix", "run7/U")
    assert np.array_equal(read_links(path, options=["--dataset", "run7/U"]), links)


def damaged_number(file):
    file["LatticeColorMatrix/Z"][3, 2, 1, 0, 2, 1] += 1e-15


def lost_checksum(file):
    del file["LatticeColorMatrix/Z"].attrs["sum31"]


def lost_direction(file):
    del file["LatticeColorMatrix/T"]


def other_names(file):
    for direction, name in zip("XYZT", ("up", "down", "left", "right")):
        file.move(f"LatticeColorMatrix/{direction}", f"LatticeColorMatrix/{name}")


def other_extents(file):
    shorter = file["LatticeColorMatrix/Y"][:-2]
    del file["LatticeColorMatrix/Y"]
    file["LatticeColorMatrix/Y"] = shorter


@pytest.mark.parametrize("damage, words", [
    (damaged_number, ["damaged", "sum29 of LatticeColorMatrix/Z"]),
    (lost_checksum, ["no sum31 of LatticeColorMatrix/Z"]),
    (lost_direction, ["dataset links", "LatticeColorMatrix"]),
    (other_names, ["group LatticeColorMatrix", "X, Y, Z, T", "found down, left, right, up"]),
    (other_extents, ["dataset LatticeColorMatrix/Y", "4x6x8x10", "4x6x8x8"]),
])
def test_damaged_pyquda_hdf5_is_refused(damage, words, links, rejected, tmp_path):
    path = formats.pyquda_hdf5_file(tmp_path / "links.h5", links)
    with h5py.File(path, "r+") as file:
        damage(file)
    rejected(path, *words)
