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
