"""A child process meets an HDF5 file first: its death is a message, and a request can do without it."""

from __future__ import annotations

import h5py
import numpy as np
import numpy_formats as formats
import pytest
import staghorn as sh

KILLED = {"STAGHORN_FAIL_PROBE": "signal"}  # the child dies as the library would on a damaged file


@pytest.fixture(scope="module")
def hdf5_links(links, tmp_path_factory):
    return formats.h5py_file(tmp_path_factory.mktemp("probe") / "links.h5", "links", links)


@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.mpi)])
def test_a_file_that_kills_the_library_is_a_message(ranks, hdf5_links, staghorn, expect_error):
    result = staghorn("inspect", hdf5_links, ranks=ranks, env=KILLED)
    expect_error(result, 1, hdf5_links, "the HDF5 library ended by signal 11", "it is damaged", "--no-probe")
    expect_error(staghorn("solve", "--gauge", hdf5_links, "--mass", 1, ranks=ranks, env=KILLED), 1, "ended by signal 11")


def test_a_file_that_never_ends_is_a_message(hdf5_links, staghorn, expect_error):
    expect_error(staghorn("inspect", hdf5_links, env={"STAGHORN_FAIL_PROBE": "time"}), 1, hdf5_links, "did not end in time")


def test_no_probe_reads_at_once(hdf5_links, staghorn, tmp_path):
    staghorn("inspect", hdf5_links, "--no-probe", env=KILLED, check=True)
    (tmp_path / "run.ini").write_text(f"gauge = {hdf5_links}\nmass = 1\ntolerance = 1e-3\nno-probe\n")
    staghorn("solve", "--config", tmp_path / "run.ini", env=KILLED, check=True)
    staghorn("convert", hdf5_links, tmp_path / "copy.milc", "--no-probe", "--precision", "fp32", env=KILLED, check=True)


def test_a_library_call_asks_for_a_child(hdf5_links, links, monkeypatch):
    monkeypatch.setenv("STAGHORN_FAIL_PROBE", "signal")
    assert np.array_equal(sh.read_gauge(hdf5_links)[0], links)
    with pytest.raises(sh.Error, match="ended by signal 11"):
        sh.read_gauge(hdf5_links, probe=True)
    with pytest.raises(sh.Error, match="ended by signal 11"):
        sh.read_vectors(hdf5_links, probe=True)
    with pytest.raises(sh.Error, match="ended by signal 11"):
        sh.Session(hdf5_links, no_probe=False)
    assert sh.Session(hdf5_links).lattice == sh.Session(hdf5_links, no_probe=True).lattice
    monkeypatch.delenv("STAGHORN_FAIL_PROBE")
    assert np.array_equal(sh.read_gauge(hdf5_links, probe=True)[0], links)
    assert sh.Session(hdf5_links, no_probe=False).lattice == formats.EXTENTS


def in_another_file(path, links):
    """External storage: the numbers alone, in a file beside it."""
    links.tofile(path.parent / "numbers.raw")
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("links", links.shape, "c16", external=[("numbers.raw", 0, h5py.h5f.UNLIMITED)])
        dataset.attrs.update(formats.h5py_checksums(links))


def virtual(path, links):
    """A dataset that is put together from two files."""
    layout = h5py.VirtualLayout(links.shape, "c16")
    half = links.shape[0] // 2
    for k, part in enumerate((links[:half], links[half:])):
        with h5py.File(path.parent / f"part{k}.h5", "w") as file:
            file["u"] = part
        layout[k * half:(k + 1) * half] = h5py.VirtualSource(f"part{k}.h5", "u", part.shape)
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file.create_virtual_dataset("links", layout).attrs.update(formats.h5py_checksums(links))


def linked(path, links):
    """A link into another file."""
    formats.h5py_file(path.parent / "there.h5", "u", links)
    with h5py.File(path, "w") as file:
        file["links"] = h5py.ExternalLink("there.h5", "/u")


def many_attributes(path, links):
    """More than fit into a header: HDF5 keeps them in a table."""
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file["links"] = links
        file["links"].attrs.update(formats.h5py_checksums(links))
        for k in range(50):
            file["links"].attrs[f"note {k}"] = "x" * k


@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("make", [in_another_file, virtual, linked, many_attributes])
def test_forms_of_real_files_are_read(make, ranks, links, read_links, rejected, tmp_path):
    path = tmp_path / "links.h5"
    make(path, np.ascontiguousarray(links))
    assert np.array_equal(read_links(path, ranks=ranks), links)
    for other in ("numbers.raw", "part1.h5", "there.h5"):
        if (tmp_path / other).exists():
            (tmp_path / other).rename(tmp_path / "gone")
            rejected(path, *(["a file", other, "found none"] if other != "there.h5" else ["links"]))


def test_a_small_array_may_lie_in_the_header(staghorn, read_links, tmp_path):
    u = formats.random_su3_links((2, 2, 2, 2), seed=4)[:, :, :, :]
    path = tmp_path / "links.h5"
    with h5py.File(path, "w") as file:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"links", h5py.h5t.py_create("c16", logical=True), h5py.h5s.create_simple(u.shape), how)
        file["links"][...] = u
        file["links"].attrs.update(formats.h5py_checksums(u))
    assert np.array_equal(read_links(path), u)


COMPRESSED = {"SOURCE_DATE_EPOCH": "1700000000"}


@pytest.mark.mpi
def test_compressed_files_do_not_depend_on_the_ranks(hdf5_links, links, staghorn, read_links, tmp_path):
    contents = []
    for ranks in (1, 4):
        path = tmp_path / f"{ranks}.h5"
        staghorn("convert", hdf5_links, path, "--compress", 4, ranks=ranks, env=COMPRESSED, check=True)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    with h5py.File(path) as file:
        assert file["links"].chunks == (1, 8, 6, 4, 4, 3, 3) and file["links"].compression == "gzip"
        assert file["links"].shuffle and file["links"].compression_opts == 4
        assert np.array_equal(file["links"][...], links) and "creator" in file["links"].attrs
    assert np.array_equal(read_links(path, ranks=3), links)
    content = bytearray(contents[0])
    content[len(content) // 2] ^= 4  # within the chunks
    path.write_bytes(content)
    assert staghorn("inspect", path).returncode == 1


def test_solutions_and_pyquda_files_are_compressed(hdf5_links, links, staghorn, read_links, tmp_path):
    plain, small = tmp_path / "x.h5", tmp_path / "y.h5"
    for path, options in ((plain, []), (small, ["--compress", 9])):
        staghorn("solve", "--gauge", hdf5_links, "--mass", 1, "--tolerance", 1e-6, "--output", path, *options, check=True)
    with h5py.File(plain) as one, h5py.File(small) as other:
        assert np.array_equal(one["solution"][...], other["solution"][...])
        assert one["solution"].attrs["suma"] == other["solution"].attrs["suma"]
        assert one["solution"].chunks is None and other["solution"].chunks == (1, 1, 8, 6, 4, 3)
    sh.read_vectors(small)
    staghorn("solve", "--gauge", hdf5_links, "--mass", 1, "--tolerance", 1e-6, "--guess", small, check=True)
    path = tmp_path / "links.pyquda"
    staghorn("convert", hdf5_links, path, "--compress", 1, check=True)
    assert np.array_equal(read_links(path), links)
    with h5py.File(path) as file:
        assert file["LatticeColorMatrix/X"].chunks == (1, 8, 6, 4, 3, 3) and len(file["LatticeColorMatrix"].attrs["Lattice"]) > 6
    sh.write_gauge(tmp_path / "z.h5", links, compress=2)
    assert np.array_equal(sh.read_gauge(tmp_path / "z.h5")[0], links)


def test_compression_belongs_to_hdf5(hdf5_links, links, staghorn, expect_error, tmp_path):
    expect_error(staghorn("convert", hdf5_links, tmp_path / "a.nersc", "--compress", 4), 2, "--compress: expected a file in HDF5")
    expect_error(staghorn("convert", hdf5_links, tmp_path / "a.h5", "--compress", 10), 2, "--compress: expected a level from 1 to 9, found 10")
    with pytest.raises(sh.Error, match="compress"):
        sh.write_gauge(tmp_path / "a.nersc", links, compress=3)
    assert not list(tmp_path.iterdir())


def test_a_bit_of_our_metadata_is_an_error_without_a_child(hdf5_links, staghorn, tmp_path):
    """Every byte in front of the numbers and behind them has a checksum, or is not used."""
    intact, path = tmp_path / "intact.h5", tmp_path / "damaged.h5"
    u = formats.random_su3_links((2, 2, 2, 2), seed=5)
    sh.write_gauge(intact, u)
    content = intact.read_bytes()
    with h5py.File(intact) as file:
        first = file["links"].id.get_offset()
    last = first + u.nbytes
    refused = 0
    for at in [*range(0, min(first, 700)), *range(last, len(content))]:
        copy = bytearray(content)
        copy[at] ^= 1 << at % 8
        path.write_bytes(copy)
        try:
            found = sh.read_gauge(path)[0]
            assert np.array_equal(found, u), at
        except sh.Error:
            refused += 1
    assert refused > 500
