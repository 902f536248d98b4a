"""Every gauge format against an independent reader and writer in NumPy, both ways, on any number of ranks."""

from __future__ import annotations

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from numpy_formats import EXTENTS

# name: (writer, format, bits)
FOREIGN_FILES = {
    "milc-little": (lambda u: formats.milc_file(u, "<"), "milc", 32),
    "milc-big": (lambda u: formats.milc_file(u, ">"), "milc", 32),
    "nersc-two-rows-fp32": (lambda u: formats.nersc_file(u, 2, "IEEE32BIG"), "nersc", 32),
    "nersc-two-rows-fp64": (lambda u: formats.nersc_file(u, 2, "IEEE64BIG"), "nersc", 64),
    "nersc-3x3-fp32": (lambda u: formats.nersc_file(u, 3, "IEEE32"), "nersc", 32),
    "nersc-3x3-fp32-little": (lambda u: formats.nersc_file(u, 3, "IEEE32LITTLE"), "nersc", 32),
    "nersc-3x3-fp64-little": (lambda u: formats.nersc_file(u, 3, "IEEE64LITTLE"), "nersc", 64),
    "nersc-unsaid-little": (lambda u: formats.nersc_file(u, 3, "IEEE64", byte_order="<"), "nersc", 64),
    "scidac-fp32": (lambda u: formats.scidac_file(u, 32), "scidac", 32),
    "scidac-fp64": (lambda u: formats.scidac_file(u, 64), "scidac", 64),
    "ildg-fp32": (lambda u: formats.ildg_file(u, 32), "ildg", 32),
    "ildg-fp64": (lambda u: formats.ildg_file(u, 64), "ildg", 64),
    "ildg-without-scidac-records": (lambda u: formats.bare_ildg_file(u), "ildg", 64),
    "npy-fp64": (lambda u: formats.npy_file(u), "npy", 64),
    "npy-fp32-big": (lambda u: formats.npy_file(u, 32, ">", (2, 0)), "npy", 32),
    "openqcd": (lambda u: formats.openqcd_file(u), "openqcd", 64),
    "kyu": (lambda u: formats.kyu_file(u), "kyu", 64),
}
# Files that have nothing to compare with are read on request, and count as unverified. KYU's have no header either.
UNVERIFIED = {"npy", "kyu", "ildg-without-scidac-records"}


def options_of(name):
    unverified = ["--no-verify"] if any(name.startswith(kind) for kind in UNVERIFIED) else []
    return unverified + (["--kyu", "x".join(map(str, EXTENTS))] if name == "kyu" else [])


# Checks of files by Staghorn; NERSC files of others have no suma and sumb.
CHECKS = {
    "milc": {"sum29", "sum31"},
    "nersc": {"nersc", "plaquette", "link_trace"},
    "scidac": {"suma", "sumb"},
    "ildg": {"suma", "sumb"},
    "hdf5": {"suma", "sumb", "plaquette"},
    "openqcd": {"plaquette"},
    "npy": set(),
    "kyu": set(),
}
WRITTEN = [("milc", 32), ("nersc", 32), ("nersc", 64), ("ildg", 32), ("ildg", 64), ("scidac", 32), ("scidac", 64),
           ("hdf5", 32), ("hdf5", 64), ("npy", 32), ("npy", 64), ("openqcd", 64), ("kyu", 64)]  # fmt: skip
WRITTEN_IDS = [f"{name}-fp{bits}" for name, bits in WRITTEN]


def rounded(links, bits):
    return links.astype(np.complex64).astype(np.complex128) if bits == 32 else links


@pytest.fixture(scope="module")
def hdf5_links(links, tmp_path_factory):
    """The links as h5py writes them, with checksums and no other attribute."""
    return formats.h5py_file(tmp_path_factory.mktemp("source") / "links.h5", "links", links)


def read_back(path, name):
    if name == "hdf5":
        with h5py.File(path) as file:
            data, attributes = file["links"][...], dict(file["links"].attrs)
            sums = formats.scidac_checksums(data.tobytes(), data[0, 0, 0, 0].nbytes)
            assert sums == (int(attributes["suma"], 16), int(attributes["sumb"], 16))
            assert abs(attributes["plaquette"] - formats.plaquette(data.astype(complex))) < 1e-7
            return data.astype(np.complex128)
    content = path.read_bytes()
    return {"milc": formats.read_milc, "nersc": formats.read_nersc, "npy": formats.read_npy, "kyu": formats.read_kyu,
            "openqcd": formats.read_openqcd}.get(name, lambda c: formats.read_lime(c, name))(content)


@pytest.mark.parametrize("name", FOREIGN_FILES)
def test_reader_agrees_with_numpy(name, links, read_links, inspect, tmp_path):
    writer, file_format, bits = FOREIGN_FILES[name]
    path = tmp_path / "named.without_meaning"
    path.write_bytes(writer(links))
    expected = rounded(links, bits)
    if "two-rows" in name:
        expected = formats.third_row(expected)
        assert abs(read_links(path) - expected).max() < 1e-15
    else:
        assert np.array_equal(read_links(path, options=options_of(name)), expected)
    found = inspect(path, options=options_of(name))
    assert (found["format"], found["lattice"], found["precision"]) == (file_format, list(EXTENTS), f"fp{bits}")
    checks = set() if name in UNVERIFIED else CHECKS[file_format]
    assert {check for check, result in found["checksums"].items() if result["match"]} == checks
    assert found["plaquette"] == pytest.approx(formats.plaquette(expected), abs=1e-13)


@pytest.mark.parametrize(("name", "bits"), WRITTEN, ids=WRITTEN_IDS)
def test_numpy_reads_what_the_writer_wrote(name, bits, links, hdf5_links, staghorn, inspect, tmp_path):
    path = tmp_path / "written"
    staghorn("convert", hdf5_links, path, "--format", name, "--precision", f"fp{bits}", check=True)
    assert np.array_equal(read_back(path, name), rounded(links, bits))
    found = inspect(path, options=options_of(name))["checksums"]
    assert {check for check, result in found.items() if result["match"]} == CHECKS[name] | ({"suma", "sumb"} if name == "nersc" else set())
    assert list(tmp_path.iterdir()) == [path]  # no temporary file stays behind


def test_two_row_archive_stays_one(links, staghorn, tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(formats.nersc_file(links, 2, "IEEE64BIG"))
    staghorn("convert", source, copy, "--format", "nersc", check=True)
    assert source.read_bytes().split(b"END_HEADER")[1] == copy.read_bytes().split(b"END_HEADER")[1]
    assert b"ENSEMBLE_ID = a test\n" in copy.read_bytes()


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("bits", [32, 64])
def test_nersc_numbers_are_those_of_the_stored_links(rows, bits, hdf5_links, staghorn, tmp_path):
    """Readers that compare plaquette and link trace at 1e-9 take our files, in fp32 too."""
    path = tmp_path / "written"
    staghorn("convert", hdf5_links, path, "--format", "nersc", "--precision", f"fp{bits}", "--rows", rows, check=True)
    header = dict(line.split(" = ", 1) for line in path.read_bytes().split(b"END_HEADER")[0].decode().splitlines()[1:])
    stored = formats.read_nersc(path.read_bytes())
    assert float(header["PLAQUETTE"]) == pytest.approx(formats.plaquette(stored), abs=2e-12)
    assert float(header["LINK_TRACE"]) == pytest.approx(formats.link_trace(stored), abs=2e-12)


@pytest.mark.mpi
@pytest.mark.parametrize(("name", "bits"), WRITTEN, ids=WRITTEN_IDS)
def test_file_does_not_depend_on_the_ranks(name, bits, hdf5_links, staghorn, tmp_path):
    """Whole files, to the byte."""
    contents = {}
    for ranks in (1, 2, 4, 8):
        path = tmp_path / str(ranks)
        staghorn("convert", hdf5_links, path, "--format", name, "--precision", f"fp{bits}", ranks=ranks, check=True,
                 env={"SOURCE_DATE_EPOCH": "1700000000"})
        contents[ranks] = path.read_bytes()
    assert all(content == contents[1] for content in contents.values())


@pytest.mark.mpi
@pytest.mark.parametrize("name", FOREIGN_FILES)
def test_reading_does_not_depend_on_the_ranks(name, links, read_links, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(FOREIGN_FILES[name][0](links))
    options = options_of(name)
    assert read_links(path, ranks=4, options=options).tobytes() == read_links(path, options=options).tobytes()


@pytest.mark.mpi
def test_a_file_of_many_slabs_survives(staghorn, read_links, tmp_path):
    """Several rounds of slabs on every rank: 18 MB in slabs of at most 4 MiB."""
    links = np.tile(formats.random_su3_links((8, 4, 8, 4), seed=3), (8, 1, 4, 1, 1, 1, 1))
    links[..., 0, 0] *= np.exp(1e-3j * np.arange(links[..., 0, 0].size)).reshape(links[..., 0, 0].shape)  # no two sites alike
    path = tmp_path / "large"
    path.write_bytes(formats.scidac_file(links, 64))
    assert np.array_equal(read_links(path), links)
    assert np.array_equal(read_links(path, ranks=2), links)


HDF5_VARIANTS = {
    "chunked": {"chunks": (5, 3, 6, 4, 4, 3, 3)},
    "compressed": {"chunks": (3, 8, 4, 2, 2, 3, 3), "compression": "gzip", "shuffle": True},
    "big-endian": {"dtype": np.dtype(">c16")},
    "single": {"dtype": np.complex64},
}


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("variant", HDF5_VARIANTS)
def test_any_hdf5_layout_of_h5py_is_read(variant, ranks, links, read_links, inspect, tmp_path):
    path = tmp_path / "links.h5"
    stored = np.ascontiguousarray(rounded(links, 32) if variant == "single" else links)
    options = HDF5_VARIANTS[variant]
    suma, sumb = formats.scidac_checksums(
        stored.astype(np.complex64).tobytes() if variant == "single" else stored.tobytes(), 288 if variant == "single" else 576)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("links", data=stored.astype(options.get("dtype", np.complex128)), **options)
        dataset.attrs["suma"], dataset.attrs["sumb"] = f"{suma:08x}", np.bytes_(f"{sumb:08x}")
    assert np.array_equal(read_links(path, ranks=ranks), stored)
    found = inspect(path, ranks=ranks)
    assert found["checksums"]["suma"]["match"] and found["checksums"]["sumb"]["match"]
    assert any("plaquette" in warning for warning in found["warnings"])


H5PY_FILES = {
    "version-1.8": {"libver": ("v108", "v108")},
    "version-1.10": {"libver": ("v110", "v110")},
}


@pytest.mark.parametrize("name", H5PY_FILES)
def test_any_hdf5_version_of_h5py_is_read(name, links, read_links, tmp_path):
    path = tmp_path / "links.h5"
    with h5py.File(path, "w", **H5PY_FILES[name]) as file:
        file["other"] = np.arange(5)
        file["links"] = links
        file["links"].attrs.update(formats.h5py_checksums(links))
    assert np.array_equal(read_links(path), links)


def test_a_file_of_a_newer_hdf5_is_read_or_called_so(links, staghorn, read_links, tmp_path):
    """h5py brings an HDF5 of its own, which may be newer than that of Staghorn."""
    path = tmp_path / "links.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file["links"] = links
        file["links"].attrs.update(formats.h5py_checksums(links))
    result = staghorn("inspect", path)
    if result.returncode == 0:
        assert np.array_equal(read_links(path), links)
    else:
        assert "a newer HDF5 than" in result.stderr and str(path) in result.stderr


def test_hdf5_library_may_change_our_files(hdf5_links, staghorn, inspect, tmp_path):
    """Attributes that h5py adds move the header of the dataset; many stay readable."""
    path = tmp_path / "links.h5"
    staghorn("convert", hdf5_links, path, "--format", "hdf5", check=True)
    with h5py.File(path, "r+") as file:
        for k in range(20):
            file["links"].attrs[f"note {k}"] = "x" * 100 * k
        file["links"].attrs["list"] = np.arange(4)
        file["links"].attrs["number"], file["links"].attrs["count"] = np.float32(0.5), np.int16(-3)
        del file["links"].attrs["note 3"]
        file["more"] = np.arange(3)
    found = inspect(path)
    assert found["intact"] and found["header"]["note 19"] == "x" * 1900 and "note 3" not in found["header"]
    assert (found["header"]["number"], found["header"]["count"]) == ("0.5", "-3") and "list" not in found["header"]


def test_our_hdf5_needs_no_padding_and_keeps_texts_in_place(hdf5_links, staghorn, tmp_path):
    """Metadata carry checksums (superblock 2) and texts a fixed length, so that nothing lies in a heap without any."""
    path = tmp_path / "links.h5"
    staghorn("convert", hdf5_links, path, "--format", "hdf5", check=True)
    content = path.read_bytes()
    assert content[8] == 2 and content.count(b"OHDR") == 2 and b"GCOL" not in content and b"TREE" not in content
    with h5py.File(path) as file:
        assert file["links"].attrs.get_id("suma").get_type().is_variable_str() == 0
        assert file["links"].id.get_offset() % 4096 == 0


@pytest.mark.reference
@pytest.mark.parametrize("name", ["lat.sample.l4448", "lat.sample.l4448.scidac", "lat.sample.l4444.ildg"])
def test_numpy_agrees_on_files_of_other_codes(name, reference_data, read_links):
    content = (reference_data / name).read_bytes()
    if content[:4] == b"\x45\x67\x89\xab":
        data = next(data for kind, _, data in formats.lime_records(content) if kind.endswith("binary-data"))
        expected = formats.complex_numbers(data, 32, ">")
    else:
        expected = formats.read_milc(content)
    assert np.array_equal(read_links(reference_data / name).ravel(), expected.ravel())
