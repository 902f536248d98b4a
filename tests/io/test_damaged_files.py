"""Every way in which a gauge file can be wrong gives one message: the file, what was expected, what was found."""

from __future__ import annotations

import json
import struct

import h5py
import numpy as np
import numpy_formats as formats
import pytest

WRITERS = {
    "milc": formats.milc_file,
    "nersc": formats.nersc_file,
    "nersc-two-rows": lambda u: formats.nersc_file(u, 2),
    "scidac": formats.scidac_file,
    "ildg": formats.ildg_file,
}


def hdf5_bytes(staghorn, links, folder) -> bytes:
    formats.h5py_file(folder / "plain.h5", "links", links)
    staghorn("convert", folder / "plain.h5", folder / "made.h5", "--format", "hdf5", check=True)
    return (folder / "made.h5").read_bytes()


@pytest.fixture(scope="module")
def intact(staghorn, links, tmp_path_factory) -> dict[str, bytes]:
    """The bytes of one good file in each format."""
    files = {name: writer(links) for name, writer in WRITERS.items()}
    return files | {"hdf5": hdf5_bytes(staghorn, links, tmp_path_factory.mktemp("intact"))}


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("name", [*WRITERS, "hdf5"])
def test_reader_rejects_flipped_bit(name, ranks, intact, rejected, staghorn, tmp_path):
    content = bytearray(intact[name])
    content[len(content) // 2] ^= 0x10
    path = tmp_path / "flipped"
    path.write_bytes(content)
    rejected(path, "stored", "computed", ranks=ranks)
    output = tmp_path / "output"
    assert staghorn("convert", path, output, "--format", "milc", "--precision", "fp32", ranks=ranks).returncode == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [*WRITERS, "hdf5"])
@pytest.mark.parametrize("kept", [0.999, 0.5, 0.0001, 0])
def test_reader_rejects_truncated_file(name, kept, intact, rejected, tmp_path):
    content = intact[name][: int(kept * len(intact[name]))]
    path = tmp_path / "truncated"
    path.write_bytes(content)
    # Within the links: both sizes are named. (A LIME record names its own.)
    rejected(path, *(["truncated"] if kept >= 0.5 else []))
    if kept >= 0.5 and name in ("milc", "nersc", "nersc-two-rows"):
        rejected(path, f"{len(intact[name])} bytes", f"{len(content)} bytes")


@pytest.mark.parametrize("name", WRITERS)
def test_bytes_behind_the_links_are_a_warning(name, intact, inspect, tmp_path):
    path = tmp_path / "long"
    path.write_bytes(intact[name] + b"forty bytes of something else, ignored..")
    found = inspect(path)
    assert any("40 bytes follow" in warning for warning in found["warnings"])
    assert all(check["match"] for check in found["checksums"].values())


@pytest.mark.parametrize(
    ("content", "absent"),
    [
        (lambda u: formats.nersc_file(u, PLAQUETTE=None), "PLAQUETTE"),
        (lambda u: formats.nersc_file(u, LINK_TRACE=None), "LINK_TRACE"),
    ],
    ids=["nersc-plaquette", "nersc-link-trace"],
)
def test_absent_header_number_is_a_warning(content, absent, links, inspect, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content(links))
    assert any(absent in warning for warning in inspect(path)["warnings"])


def renamed(old: bytes, new: bytes):
    """One of our own NERSC files with a damaged name in its header."""
    return lambda staghorn, u, folder: converted(staghorn, u, folder, "nersc").replace(old, new, 1)


def converted(staghorn, u, folder, name) -> bytes:
    (folder / "links.scidac").write_bytes(formats.scidac_file(u))
    staghorn("convert", folder / "links.scidac", folder / "converted", "--format", name, check=True)
    return (folder / "converted").read_bytes()


def without_checksums(staghorn, u, folder) -> bytes:
    with h5py.File(folder / "bare.h5", "w") as file:
        file["links"] = u
    return (folder / "bare.h5").read_bytes()


# name: (makes the file, what the message and the report call it)
UNVERIFIED = {
    "nersc-no-checksum": (lambda staghorn, u, folder: formats.nersc_file(u, CHECKSUM=None), "nersc"),
    "nersc-checksum-renamed": (renamed(b"CHECKSUM", b"CHECKSUN"), "nersc"),
    "nersc-plaquette-renamed": (renamed(b"PLAQUETTE", b"PLAQUETTM"), "plaquette"),
    "nersc-link-trace-renamed": (renamed(b"LINK_TRACE", b"LINK?TRACE"), "link_trace"),
    "nersc-suma-renamed": (renamed(b"STAGHORN_SUMA", b"sTAGHORN_SUMA"), "suma"),
    "nersc-suma-without-equals": (renamed(b"STAGHORN_SUMA =", b"STAGHORN_SUMA -"), "suma"),
    "scidac-no-checksum": (lambda staghorn, u, folder: formats.scidac_file(u, checksum=False), "suma"),
    "ildg-no-checksum": (lambda staghorn, u, folder: formats.ildg_file(u, checksum=False), "sumb"),
    "ildg-checksum-renamed": (
        lambda staghorn, u, folder: formats.ildg_file(u).replace(b"scidac-checksum", b"scidac-checksul"), "suma"),
    "hdf5-no-checksum": (without_checksums, "suma"),
}


@pytest.mark.parametrize("name", UNVERIFIED)
def test_absent_checksum_is_refused_unless_no_verify_says_otherwise(name, links, rejected, staghorn, tmp_path):
    make, word = UNVERIFIED[name]
    (tmp_path / "made").mkdir()
    path = tmp_path / "file"
    path.write_bytes(make(staghorn, links, tmp_path / "made"))
    rejected(path, f"no {word} (computed", "verify")
    solve = ["solve", "--gauge", path, "--mass", 1, "--tolerance", 1e-3, "--report", tmp_path / "report.json"]
    assert staghorn(*solve).returncode == 1 and not (tmp_path / "report.json").exists()
    result = staghorn(*solve, "--no-verify", check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verified"] is False and report["gauge"]["verified"] is False
    assert report["gauge"]["checksums"][word]["stored"] == "" and not report["gauge"]["checksums"][word]["match"]
    assert result.stdout.count("UNVERIFIED") >= 2 and "NOT VERIFIED" in result.stdout
    assert "UNVERIFIED" in staghorn("convert", path, tmp_path / "copy", "--format", "milc", "--precision", "fp32",
                                    "--no-verify", check=True).stdout
    assert "ABSENT" in staghorn("inspect", path, "--no-verify", check=True).stdout


def test_verified_report_says_so(links, staghorn, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(formats.milc_file(links))
    result = staghorn("solve", "--gauge", path, "--mass", 1, "--report", tmp_path / "report.json", "--no-verify", check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verified"] is True and report["unverified"] == [] and "VERIFIED" not in result.stdout


def test_two_flips_that_cancel_in_the_sum_of_nersc_are_seen(links, staghorn, rejected, tmp_path):
    """The lowest bit of two numbers: neither the sum of words nor plaquette and link trace notice."""
    content = bytearray(converted(staghorn, links, tmp_path, "nersc"))
    low = [at for at in range(len(content) - 1, len(content) - 4000, -4) if content[at] & 1]
    high = [at for at in range(len(content) - 1, len(content) - 4000, -4) if not content[at] & 1]
    content[low[0]] ^= 1
    content[high[5]] ^= 1
    path = tmp_path / "file"
    path.write_bytes(content)
    message = rejected(path, "suma stored", "sumb stored")
    assert "nersc stored" not in message


def nersc(**changes):
    return lambda u: formats.nersc_file(u, **changes)


def replaced(writer, old: bytes, new: bytes):
    def make(u):
        content = writer(u)
        assert content.count(old) >= 1
        return content.replace(old, new, 1)

    return make


def milc_with_extents(*extents):
    return lambda u: struct.pack("<5i", 20103, *extents) + formats.milc_file(u)[20:]


WRONG = {
    "nersc-checksum": (nersc(CHECKSUM="12345678"), ["nersc stored 12345678, computed"]),
    "nersc-plaquette": (nersc(PLAQUETTE="0.1234567890"), ["plaquette stored 0.1234567890, computed"]),
    "nersc-plaquette-text": (nersc(PLAQUETTE="nan"), ["plaquette stored nan"]),
    "nersc-link-trace": (nersc(LINK_TRACE="0.7"), ["link_trace stored 0.7, computed"]),
    "nersc-su2": (nersc(DATATYPE="4D_SU2_GAUGE"), ["4D_SU3_GAUGE", "4D_SU2_GAUGE"]),
    "nersc-no-datatype": (nersc(DATATYPE=None), ["DATATYPE"]),
    "nersc-real-type": (nersc(FLOATING_POINT="IEEE32MIDDLE", byte_order=">"), ["FLOATING_POINT", "IEEE32MIDDLE"]),
    "nersc-odd-extent": (nersc(DIMENSION_2=5), ["even", "4x5x8x10"]),
    "nersc-swapped-rows": (nersc(DATATYPE="4D_SU3_GAUGE"), ["stored", "computed"]),
    "nersc-no-dimension": (nersc(DIMENSION_3=None), ["DIMENSION_3"]),
    "nersc-endless-header": (replaced(formats.nersc_file, b"END_HEADER", b"END_HEADEX"), ["END_HEADER"]),
    "milc-larger-extent": (milc_with_extents(4, 6, 8, 12), ["truncated", "expected", "4x6x8x12"]),
    "milc-odd-extent": (milc_with_extents(4, 6, 8, 9), ["even", "4x6x8x9"]),
    "milc-zero-extent": (milc_with_extents(4, 0, 8, 10), ["even", "4x0x8x10"]),
    "milc-absurd-extents": (milc_with_extents(1 << 30, 1 << 30, 1 << 30, -6), ["even numbers"]),
    "milc-node-order": (lambda u: formats.milc_file(u, order=1), ["order", "0 (natural order)", "1"]),
    "milc-older": (lambda u: formats.milc_file(u, magic=53546), ["version 5", "53546"]),
    "ildg-other-field": (lambda u: formats.ildg_file(u, field="wilson5d"), ["su3gauge", "wilson5d"]),
    "ildg-other-extent": (replaced(formats.ildg_file, b"<lx>4</lx>", b"<lx>6</lx>"), ["4x6x8x10", "6x6x8x10"]),
    "ildg-extent-text": (replaced(formats.ildg_file, b"<lx>4</lx>", b"<lx>?</lx>"), ["<lx>", "?"]),
    "scidac-no-data": (lambda u: formats.scidac_file(u, data_type="something-else"), ["scidac-binary-data"]),
    "scidac-parts": (lambda u: formats.scidac_file(u, volume_format=1), ["several volumes", ".vol0000"]),
    "scidac-volumes": (lambda u: formats.scidac_file(u, volume_format=3), ["<volfmt>", "3"]),
    "scidac-other-extents": (replaced(formats.scidac_file, b"4 6 8 10", b"4 6 8 20"), ["bytes", "4x6x8x20"]),
    "scidac-overflowing-product": (
        replaced(formats.scidac_file, b"<typesize>72</typesize>", b"<typesize>4611686018427387922</typesize>"),
        ["<typesize>", "4611686018427387922"]),
    "scidac-negative-count": (replaced(formats.scidac_file, b"<datacount>4<", b"<datacount>-4<"), ["<datacount>", "-4"]),
    "scidac-five-dimensions": (replaced(formats.scidac_file, b"4 6 8 10 <", b"4 6 8 10 2 <"), ["<dims>", "4 6 8 10 2"]),
    "ildg-extent-of-33-bits": (
        replaced(formats.ildg_file, b"<lx>4</lx>", b"<lx>4294967300</lx>"), ["<lx>", "4294967300"]),
    "nersc-extent-of-33-bits": (nersc(DIMENSION_1=4294967300), ["DIMENSION_1", "4294967300"]),
    "nersc-extent-with-letters": (nersc(DIMENSION_1="4b"), ["DIMENSION_1", "4b"]),
    "scidac-checksum": (replaced(formats.scidac_file, b"<suma>", b"<suma>1"), ["suma stored 1"]),
    "unknown": (lambda u: b"this is not a gauge configuration at all", ["MILC v5, NERSC, ILDG, SciDAC, HDF5, NumPy or openQCD"]),
    "short": (lambda u: b"BEGIN", ["5 bytes"]),
    "hdf5-start-only": (lambda u: b"\x89HDF\r\n\x1a\n" + bytes(100), ["HDF5"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_file_is_refused(name, links, rejected, tmp_path):
    make, words = WRONG[name]
    path = tmp_path / "wrong"
    path.write_bytes(make(links))
    rejected(path, *words)


@pytest.mark.parametrize("number", [2, 8])
def test_nersc_header_may_round_its_numbers(number, links, inspect, tmp_path):
    path = tmp_path / "rounded"
    path.write_bytes(formats.nersc_file(links, PLAQUETTE=f"{formats.plaquette(links):.{number}f}"))
    assert inspect(path)["checksums"]["plaquette"]["match"]


def test_header_bytes_beyond_ascii_do_not_spoil_the_output(links, inspect, rejected, tmp_path):
    path = tmp_path / "file"
    content = formats.milc_file(links).replace(b"Thu Jan", b"Thu \xff\x01n")
    path.write_bytes(content)
    assert inspect(path)["header"]["time_stamp"].startswith("Thu \\xff?n")
    path.write_bytes(formats.nersc_file(links).replace(b"4D_SU3", b"4D_\xfe\xffU"))
    rejected(path, "4D_\\xfe\\xffU")


def test_missing_file_and_directory_are_named(rejected, tmp_path):
    rejected(tmp_path / "absent", "No such file")
    rejected(tmp_path, "a directory")


HDF5_WRONG = {
    "other-name": ("link", np.zeros((10, 8, 6, 4, 4, 3, 3), complex), ["links"]),
    "real": ("links", np.zeros((10, 8, 6, 4, 4, 3, 3)), ["complex"]),
    "five-directions": ("links", np.zeros((10, 8, 6, 4, 5, 3, 3), complex), ["(T, Z, Y, X, 4, 3, 3)", "(10, 8, 6, 4, 5, 3, 3)"]),
    "flat": ("links", np.zeros((1920, 4, 3, 3), complex), ["(T, Z, Y, X, 4, 3, 3)", "(1920, 4, 3, 3)"]),
    "odd": ("links", np.zeros((10, 8, 5, 4, 4, 3, 3), complex), ["even", "4x5x8x10"]),
}


@pytest.mark.parametrize("name", HDF5_WRONG)
def test_wrong_hdf5_is_refused(name, rejected, tmp_path):
    dataset, content, words = HDF5_WRONG[name]
    path = tmp_path / "wrong.h5"
    with h5py.File(path, "w") as file:
        file[dataset] = content
    rejected(path, *words)


@pytest.mark.parametrize("attribute", ["suma", "plaquette"])
def test_wrong_hdf5_attribute_is_refused(attribute, intact, rejected, tmp_path):
    path = tmp_path / "wrong.h5"
    path.write_bytes(intact["hdf5"])
    with h5py.File(path, "r+") as file:
        file["links"].attrs[attribute] = {"suma": "00c0ffee", "plaquette": 0.25}[attribute]
    rejected(path, f"{attribute} stored", "computed")


def with_bytes(content, at, new):
    return content[:at] + new + content[at + len(new):]


@pytest.mark.parametrize("name, damage, words", [
    ("openqcd", lambda c: c[:-8], ["truncated", "4x6x8x10"]),
    ("openqcd", lambda c: c + bytes(8), ["unknown first bytes"]),
    ("openqcd", lambda c: with_bytes(c, 16, struct.pack("<d", 1.5)), ["plaquette stored 0.5", "--no-verify"]),
    ("openqcd", lambda c: with_bytes(c, 24 + 144 * 8 * 77, struct.pack("<d", 0.9)), ["plaquette", "damaged"]),
    ("npy", lambda c: c[:-8], ["truncated", "bytes"]),
    ("npy", lambda c: c + bytes(8), ["bytes", "fp64"]),
    ("npy", lambda c: c.replace(b"(4, 10, 8, 6, 4, 3, 3)", b"(4, 10, 8, 9, 4, 3, 2)"), ["shape"]),
    ("npy", lambda c: c.replace(b"(4, 10, 8, 6, 4, 3, 3)", b"(4, 10, 8, 6, 4, 3,-3)"), ["shape", "-3"]),
    ("npy", lambda c: c.replace(b"False", b"True "), ["fortran_order"]),
    ("npy", lambda c: with_bytes(c, 6, b"\x09"), ["version", "9"]),
    ("npy", lambda c: with_bytes(c, 8, b"\xff\xff"), ["header"]),
    ("npy", lambda c: c[:20], ["bytes"]),
    ("npy", lambda c: c, ["cannot be verified", "no plaquette", "--no-verify"]),
])
def test_damaged_openqcd_and_numpy_files_are_refused(name, damage, words, links, rejected, tmp_path):
    path = tmp_path / "damaged"
    path.write_bytes(damage(getattr(formats, f"{name}_file")(links)))
    rejected(path, *words)


@pytest.mark.parametrize("lattice, words", [("4x6x8x8", ["4x6x8x8", "KYU", "bytes"]), ("4x6x8x10", ["cannot be verified", "--no-verify"]),
                                            ("4x6x8x9", ["four even numbers"])])
def test_kyu_files_must_fit_the_lattice(lattice, words, links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links.kyu"
    path.write_bytes(formats.kyu_file(links))
    expect_error(staghorn("inspect", path, "--kyu", lattice), 1, path, *words)


@pytest.mark.parametrize("format", ["openqcd", "kyu"])
def test_formats_of_fp64_alone_take_no_other(format, staghorn, small_gauge, expect_error, tmp_path):
    expect_error(staghorn("convert", small_gauge, tmp_path / f"q.{format}", "--precision", "fp32"), 1, "fp64", "fp32")
    assert not list(tmp_path.iterdir())
