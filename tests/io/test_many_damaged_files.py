"""Thousands of damaged copies of a small file in each format, read in one process.

No copy may end the process, and none may be read with other values than the intact file. Copies of HDF5 are met by a child first,
which may die.
"""

from __future__ import annotations

import re

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from numpy_formats import h5py_file

EXTENTS = (2, 2, 2, 4)
# kind and format: (first bit, last bit to flip one by one, random copies). Headers lie at the beginning, and in HDF5 by
# Staghorn at the end: there the random copies find them.
CASES = {
    "gauge-milc": (0, 96 * 8, 6000),
    "gauge-nersc": (0, 500 * 8, 6000),
    "gauge-scidac": (0, 1400 * 8, 6000),
    "gauge-ildg": (0, 1900 * 8, 6000),
    "gauge-hdf5": (0, 150 * 8, 4000),
    "gauge-hdf5-by-h5py": (0, 500 * 8, 2000),
    "gauge-hdf5-in-chunks": (0, 500 * 8, 2000),
    "source-hdf5-by-h5py": (0, 500 * 8, 2000),
    "solution-hdf5": (0, 150 * 8, 4000),
}


@pytest.fixture(scope="module")
def small_links():
    return formats.random_su3_links(EXTENTS, seed=3)


def make(name, links, staghorn, folder):
    """The file of a case, intact."""
    path, milc = folder / name, folder / "links.milc"
    milc.write_bytes(formats.milc_file(links))
    vectors = np.arange(2 * 4 * 8 * 3).reshape(2, 4, 2, 2, 2, 3) * (1 + 0.5j)
    if name == "gauge-hdf5-by-h5py":
        return h5py_file(path, "links", links)
    if name == "gauge-hdf5-in-chunks":
        return h5py_file(path, "links", links, chunks=(2, 1, 2, 2, 2, 3, 3), compression="gzip", shuffle=True, fletcher32=True)
    if name == "source-hdf5-by-h5py":
        return h5py_file(path, "source", vectors)
    if name == "solution-hdf5":
        staghorn("solve", "--gauge", milc, "--mass", 1, "--output", path, check=True)
        return path
    staghorn("convert", milc, path, "--format", name.split("-")[1], check=True)
    return path


@pytest.mark.parametrize("name", CASES)
def test_no_damaged_copy_ends_the_process_or_is_read_with_other_values(name, small_links, staghorn, run_built, tmp_path):
    path = make(name, small_links, staghorn, tmp_path)
    first, last, n_random = CASES[name]
    (tmp_path / "copies").mkdir()
    result = run_built("damaged_inputs", name.split("-")[0], path, tmp_path / "copies", first, last, n_random, 1, *EXTENTS,
                       timeout=600)  # a child for each copy of HDF5, a few of which never end
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    counts = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", result.stdout)}
    assert counts["copies"] == last - first + n_random
    assert counts["changed"] == 0 and counts["refused"] > counts["copies"] / 10


def test_a_reader_that_takes_damaged_copies_is_seen(small_links, run_built, tmp_path):
    """A source without checksums: with verification off, damaged numbers come through and are counted."""
    path = tmp_path / "source.h5"
    with h5py.File(path, "w") as file:
        file["source"] = np.ones((4, 2, 2, 2, 3), complex)
    result = run_built("damaged_inputs", "unverified-source", path, tmp_path, 0, 0, 200, 1, *EXTENTS)
    assert result.returncode == 1 and int(re.search(r"changed (\d+)", result.stdout)[1]) > 20, result.stdout


@pytest.mark.parametrize("name, last", [("npy", 128 * 8), ("openqcd", 24 * 8), ("pyquda_hdf5", 500 * 8)])
def test_no_damaged_copy_of_a_format_with_weak_checks_ends_the_process(name, last, small_links, run_built, tmp_path):
    """What these formats cannot notice is read with other values; nothing may end the process or take seconds."""
    path = tmp_path / name
    if name == "pyquda_hdf5":
        formats.pyquda_hdf5_file(path, small_links)
    else:
        path.write_bytes(getattr(formats, f"{name}_file")(small_links))
    (tmp_path / "copies").mkdir()
    result = run_built("damaged_inputs", "unverified-gauge", path, tmp_path / "copies", 0, last, 3000, 1, *EXTENTS, timeout=600)
    assert result.returncode in (0, 1), (result.returncode, result.stdout, result.stderr)
    counts = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", result.stdout)}
    assert counts["copies"] == last + 3000 and counts["refused"] > 100
