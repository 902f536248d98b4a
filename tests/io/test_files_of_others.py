"""Files as other programs leave them: read where that is sound, and called by what they are where it is not."""

from __future__ import annotations

import io
import os
import tarfile
import zlib

import h5py
import numpy as np
import numpy_formats as formats
import pytest
import staghorn as sh

FP64 = {"floating_point": "IEEE64BIG"}


def own_hdf5(path, links, **options):
    return formats.h5py_file(path, "links", links, {"plaquette": formats.plaquette(links)}, **options)


@pytest.mark.parametrize("value", [h5py.Empty("S10"), h5py.Empty("f8"), np.zeros((0, 3)), True, np.array([1, 2]), 1 + 2j,
                                   h5py.Reference()], ids=["text", "real", "extent-0", "bool", "list", "complex", "reference"])
def test_attributes_of_any_kind_are_no_obstacle(value, links, read_links, tmp_path):
    path = own_hdf5(tmp_path / "links.h5", links)
    with h5py.File(path, "r+") as file:
        file["links"].attrs["comment"] = value
    assert np.array_equal(read_links(path), links)


def test_a_dataset_without_a_value_is_called_so(rejected, tmp_path):
    with h5py.File(tmp_path / "links.h5", "w") as file:
        file["links"] = h5py.Empty("c16")
    rejected(tmp_path / "links.h5", "expected numbers, found none")


@pytest.mark.parametrize("tail", [b"END_HEADER\r\n", b"END_HEADER \n", b"END_HEADER\t \r\n"])
def test_nersc_headers_end_with_blanks_or_carriage_returns(tail, links, read_links, inspect, tmp_path):
    path = tmp_path / "links.nersc"
    content = formats.nersc_file(links, **FP64)
    path.write_bytes(content.replace(b"END_HEADER\n", tail, 1))
    assert np.array_equal(read_links(path), links)
    head, data = content.split(b"END_HEADER\n", 1)
    path.write_bytes(head.replace(b"\n", b"\r\n") + b"END_HEADER\r\n" + data)
    assert np.array_equal(read_links(path), links)
    assert inspect(path)["header"]["ENSEMBLE_ID"] == "a test"


@pytest.mark.parametrize("first_byte", [b"", b"\n", b"\r", b" "])
def test_nersc_headers_may_have_carriage_returns_alone(first_byte, links, read_links, rejected, tmp_path):
    """The numbers begin right behind the last carriage return, whatever their first byte is."""
    path, content = tmp_path / "links.nersc", formats.nersc_file(links, **FP64)
    head, data = content.split(b"END_HEADER\n", 1)
    head = head.replace(b"\n", b"\r") + b"END_HEADER\r"
    path.write_bytes(head + data)
    assert np.array_equal(read_links(path), links)
    if first_byte:
        path.write_bytes(head + first_byte + data[1:])
        rejected(path, "nersc stored")


@pytest.mark.parametrize("change", ["blanks in front", "0x", "decimal", "D", "other byte order"])
def test_nersc_headers_as_other_programs_write_them(change, links, read_links, inspect, tmp_path):
    path, content = tmp_path / "links.nersc", formats.nersc_file(links, **FP64)
    stored = content.split(b"\nCHECKSUM = ")[1].split(b"\n")[0].strip()
    plaquette = content.split(b"\nPLAQUETTE = ")[1].split(b"\n")[0].strip()
    path.write_bytes({"blanks in front": b"\n  " + content, "0x": content.replace(stored, b"0x" + stored.upper(), 1),
                      "decimal": content.replace(stored, str(int(stored, 16)).encode(), 1),
                      "D": content.replace(plaquette, plaquette + b"D+00", 1),
                      "other byte order": content.replace(b"IEEE64BIG", b"IEEE64LITTLE", 1)}[change])
    assert np.array_equal(read_links(path), links)
    warnings = inspect(path)["warnings"]
    assert warnings == (["FLOATING_POINT = IEEE64LITTLE, but the links are big-endian"] if change == "other byte order" else [])


def test_a_nersc_header_whose_end_is_no_line_is_refused(links, rejected, tmp_path):
    path = tmp_path / "links.nersc"
    path.write_bytes(formats.nersc_file(links, **FP64).replace(b"END_HEADER\n", b"END_HEADERS\n", 1))
    rejected(path, "a line END_HEADER")


@pytest.mark.parametrize("bytes_of_block", [512, 1024, 4096])
@pytest.mark.parametrize("filled", [b"", b"version https://git-lfs", b"BEGIN_HEADER\n", b"MATLAB 7.3 MAT-file"])
def test_hdf5_behind_a_block_of_the_user_is_read(filled, bytes_of_block, links, read_links, tmp_path):
    path = tmp_path / "links.h5"
    with h5py.File(path, "w", userblock_size=bytes_of_block) as file:
        dataset = file.create_dataset("links", data=links, **({"chunks": (3, 8, 6, 4, 4, 3, 3)} if filled else {}))
        dataset.attrs.update(formats.h5py_checksums(links))
    with open(path, "r+b") as file:
        file.write(filled)
    assert np.array_equal(read_links(path), links)
    assert np.array_equal(sh.read_gauge(path)[0], links)


def test_hdf5_behind_a_block_of_the_user_that_is_cut_short_is_truncated(links, rejected, tmp_path):
    path = tmp_path / "links.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["links"] = links
    os.truncate(path, os.path.getsize(path) - 8)
    rejected(path, "is truncated")


@pytest.mark.parametrize("of_attributes", [False, True])
def test_committed_types_are_read(of_attributes, links, read_links, rejected, tmp_path):
    path = tmp_path / "links.h5"
    with h5py.File(path, "w") as file:
        file["complex"], file["text"] = np.dtype("c16"), np.dtype("S8")
        dataset = file.create_dataset("links", shape=links.shape, dtype=file["complex"])
        dataset[...] = links
        for name, value in formats.h5py_checksums(links).items():
            dataset.attrs.create(name, np.bytes_(value), dtype=file["text"] if of_attributes else None)
    assert np.array_equal(read_links(path), links)
    with h5py.File(path, "r+") as file:
        file["links"][0, 0, 0, 0, 0, 0, 0] = 7
    rejected(path, "suma stored")


@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.uint64])
def test_checksums_may_be_integers(kind, links, read_links, rejected, tmp_path):
    path = tmp_path / "links.h5"
    sums = {name: np.array(int(value, 16), np.uint32) for name, value in formats.h5py_checksums(links).items()}
    with h5py.File(path, "w") as file:
        file["links"] = links
        for name, value in sums.items():
            file["links"].attrs[name] = value.view(np.int32) if kind is np.int32 else kind(value)
    assert np.array_equal(read_links(path), links)
    with h5py.File(path, "r+") as file:
        file["links"].attrs["suma"] = kind(5)
    rejected(path, "suma stored 00000005")


@pytest.mark.parametrize("parts", ["re im", "real imag", "x y"])
def test_complex_numbers_may_have_other_names(parts, links, read_links, rejected, tmp_path):
    path, first, second = tmp_path / "links.h5", *parts.split()
    with h5py.File(path, "w") as file:
        file["links"] = links.view([(first, "<f8"), (second, "<f8")])
        file["links"].attrs.update(formats.h5py_checksums(links))
    if first == "x":
        rejected(path, "expected complex numbers")
    else:
        assert np.array_equal(read_links(path), links)


def ildg_parts(links, bits=64):
    return {kind: data for kind, _, data in formats.lime_records(formats.ildg_file(links, bits))}


def record(kind, data, padded=True):
    made = formats.lime_record(kind, data)
    return made if padded else made[: 144 + len(data)]


@pytest.mark.parametrize("bits", [32, 64])
def test_ildg_data_may_stand_before_what_describes_them(bits, links, read_links, tmp_path):
    parts, path = ildg_parts(links, bits), tmp_path / "links.ildg"
    kinds = ["ildg-binary-data", "ildg-format", "scidac-checksum"]
    path.write_bytes(b"".join(record(kind, parts[kind]) for kind in kinds))
    assert np.array_equal(read_links(path), links if bits == 64 else links.astype(np.complex64))


@pytest.mark.parametrize("kinds", ["ildg-format scidac-checksum ildg-binary-data", "scidac-checksum ildg-format ildg-binary-data",
                                   "scidac-checksum ildg-binary-data ildg-format"])
def test_the_checksum_of_lime_may_stand_before_the_data(kinds, links, read_links, rejected, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    path.write_bytes(b"".join(record(kind, parts[kind]) for kind in kinds.split()))
    assert np.array_equal(read_links(path), links)
    parts["ildg-binary-data"] = parts["ildg-binary-data"][:-1] + b"\1"
    path.write_bytes(b"".join(record(kind, parts[kind]) for kind in kinds.split()))
    rejected(path, "suma stored")


def test_checksums_in_front_of_many_fields_belong_to_what_follows(staghorn, small_gauge, expect_error, tmp_path):
    """Each record of a file of several vectors has its checksum between its description and its numbers."""
    vectors = np.random.default_rng(1).normal(size=(2, 10, 8, 6, 4, 3)) + 0j
    records = [one for vector in vectors for one in formats.lime_records(formats.scidac_vector_file(vector, 64))]
    kinds = [kind for kind, _, _ in records]
    order = [k for half in (0, len(kinds) // 2) for k in [*range(half, half + len(kinds) // 2 - 2), half + len(kinds) // 2 - 1, half + len(kinds) // 2 - 2]]
    assert [kinds[k] for k in order][-2:] == ["scidac-checksum", "scidac-binary-data"]
    path = tmp_path / "b.scidac"
    path.write_bytes(b"".join(formats.lime_record(records[k][0], records[k][2]) for k in order if k < len(kinds) // 2 or "file-xml" not in records[k][0]))
    found, _ = sh.read_vectors(path)
    assert np.array_equal(found, vectors)


XML = {"comment": ("<field>", "<!-- <field>su4gauge</field> --><field>"), "comment inside": ("su3gauge", "<!-- a > b -->su3gauge<!---->"),
       "CDATA": ("su3gauge", "<![CDATA[su3gauge]]>"), "number": ("su3gauge", "su&#51;g&#x61;uge"), "named": ("<field>", "<note>&lt;field&gt;su4</note><field>"),
       "attribute": ("<field>", "<field note=\"a>b\" other='<field>su4</field>'>"), "empty": ("<field>", "<note/><field>"),
       "instruction": ("<field>", "<?x <field>su4</field> ?><field>"), "blank": ("</field>", "</field >"),
       "doctype": ("<ildgFormat", '<!DOCTYPE ildgFormat [<!ENTITY a "<field>">]><ildgFormat')}


@pytest.mark.parametrize("change", XML)
def test_xml_is_read_as_xml(change, links, read_links, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    old, new = XML[change]
    parts["ildg-format"] = parts["ildg-format"].decode().replace(old, new, 1)
    parts["scidac-checksum"] = b"<!-- <suma>0</suma> -->" + parts["scidac-checksum"]
    path.write_bytes(b"".join(record(kind, parts[kind]) for kind in ("ildg-format", "ildg-binary-data", "scidac-checksum")))
    assert np.array_equal(read_links(path), links)


def test_lime_that_is_no_ildg_is_called_by_what_it_is(links, rejected, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    head, data, sums = (record(kind, parts[kind]) for kind in ("ildg-format", "ildg-binary-data", "scidac-checksum"))
    path.write_bytes(head + record("ILDG-data", parts["ildg-binary-data"]) + sums)
    rejected(path, "ildg-binary-data", "found records ildg-format, ILDG-data, scidac-checksum")
    path.write_bytes(record("ildg-format", parts["ildg-format"].decode().encode("utf-16")) + data + sums)
    rejected(path, "ildg-format", "text in UTF-16")
    path.write_bytes(record("ildg-format", parts["ildg-format"].replace(b"field>", b"Field>")) + data + sums)
    rejected(path, "<field> of ildg-format: expected su3gauge, found none")
    path.write_bytes(bytes(8) + head + data + sums)
    rejected(path, "found LIME records from byte 8 on")
    path.write_bytes((head + data + sums)[:100])
    rejected(path, "is truncated", "144 bytes")


def test_lime_with_little_endian_numbers_is_read_where_its_checksum_is_right(links, read_links, inspect, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    data = np.frombuffer(parts["ildg-binary-data"], ">f8").astype("<f8").tobytes()
    suma, sumb = formats.scidac_checksums(data, 576)
    sums = f"<scidacChecksum><suma>{suma}</suma><sumb>{sumb:x}</sumb></scidacChecksum>"  # one of them in decimal
    path.write_bytes(record("ildg-format", parts["ildg-format"]) + record("ildg-binary-data", data) + record("scidac-checksum", sums))
    assert np.array_equal(read_links(path), links)
    assert inspect(path)["warnings"] == ["LIME has big-endian numbers, but the links are little-endian"]


def test_padding_of_lime_may_be_missing(links, inspect, read_links, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    parts["ildg-format"] += b"\n"
    assert len(parts["ildg-format"]) % 8
    path.write_bytes(b"".join(record(kind, parts[kind], padded=False) for kind in ("ildg-format", "ildg-binary-data", "scidac-checksum")))
    assert np.array_equal(read_links(path), links)
    at = 144 + len(parts["ildg-format"])
    assert inspect(path)["warnings"] == [f"no padding in front of the LIME record at byte {at}"]


def test_bytes_that_are_no_record_are_named(links, rejected, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    first = record("ildg-format", parts["ildg-format"])
    path.write_bytes(first + b"\1" * 400 + record("ildg-binary-data", parts["ildg-binary-data"]))
    rejected(path, f"bytes that are no record from byte {len(first)} on")


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**63 - 1, 2**63 + 8])
def test_lengths_beyond_any_file_are_told_as_they_are(length, links, rejected, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    data = record("ildg-binary-data", parts["ildg-binary-data"])
    path.write_bytes(record("ildg-format", parts["ildg-format"]) + data[:8] + length.to_bytes(8, "big") + data[16:])
    rejected(path, "ildg-binary-data", f"expected {length} bytes of data")


def test_xml_may_have_prefixes(links, read_links, rejected, tmp_path):
    parts, path = ildg_parts(links), tmp_path / "links.ildg"
    xml = parts["ildg-format"].decode()
    for old, new in (("</", "</i:"), ("<", "<i:"), ("<i:/i:", "</i:"), ("<i:?", "<?"), ("xmlns=", "xmlns:i=")):
        xml = xml.replace(old, new)
    assert "<i:field>" in xml
    sums = parts["scidac-checksum"].replace(b"<sum", b"<s:sum").replace(b"</sum", b"</s:sum")
    rest = record("ildg-binary-data", parts["ildg-binary-data"]) + record("scidac-checksum", sums)
    path.write_bytes(record("ildg-format", xml) + rest)
    assert np.array_equal(read_links(path), links)
    path.write_bytes(record("ildg-format", xml.replace("su3gauge", "su4gauge")) + rest)
    rejected(path, "expected su3gauge, found 'su4gauge'")


@pytest.mark.parametrize("bits", [32, 64])
def test_bare_ildg_data_are_read_with_their_lattice(bits, links, staghorn, read_links, expect_error, tmp_path):
    parts, path = ildg_parts(links, bits), tmp_path / "links.ildg"
    path.write_bytes(record("ildg-binary-data", parts["ildg-binary-data"]))
    expect_error(staghorn("inspect", path), 1, path, "expected a record scidac-private-file-xml or ildg-format", "--lattice")
    expect_error(staghorn("inspect", path, "--lattice", "4x6x8x10"), 1, path, "no suma")
    expect_error(staghorn("convert", path, tmp_path / "a.h5", "--lattice", "4x6x8x8", "--no-verify"), 1, path, "bytes")
    expected = links if bits == 64 else links.astype(np.complex64)
    assert np.array_equal(read_links(path, options=["--lattice", "4x6x8x10", "--no-verify"]), expected)
    read, info = sh.read_gauge(path, verify=False, lattice=(4, 6, 8, 10))
    assert np.array_equal(read, expected) and info["format"] == "ildg" and info["precision"] == f"fp{bits}"
    with pytest.raises(sh.Error, match="lattice"):
        sh.read_gauge(path, verify=False)


def test_a_lattice_that_is_not_that_of_the_file_is_refused(links, staghorn, expect_error, tmp_path):
    path = tmp_path / "links.nersc"
    path.write_bytes(formats.nersc_file(links, **FP64))
    expect_error(staghorn("inspect", path, "--lattice", "4x6x8x8"), 1, path, "expected a lattice of 4x6x8x8, found 4x6x8x10")
    staghorn("inspect", path, "--lattice", "4x6x8x10", check=True)


def in_tar(content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        about = tarfile.TarInfo("links")
        about.size = len(content)
        archive.addfile(about, io.BytesIO(content))
    return buffer.getvalue()


def in_npz(content):
    buffer = io.BytesIO()
    np.savez(buffer, links=np.frombuffer(content, np.uint8))
    return buffer.getvalue()


FOREIGN = {
    "lfs": (lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1179864\n", "git lfs pull"),
    "annex": (lambda _: b"/annex/objects/SHA256E-s1179864--" + b"0" * 64 + b".nersc\n", "git annex get"),
    "html": (lambda _: b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n", "a page of HTML"),
    "html-alone": (lambda _: b"<HTML><HEAD><TITLE>302</TITLE></HEAD></HTML>", "a page of HTML"),
    "xml": (lambda _: b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "text in XML"),
    "json": (lambda _: b'{"message": "Not Found"}', "text in JSON"),
    "empty": (lambda _: b"", "an empty file"),
    "zeros": (lambda content: bytes(len(content)), "zero bytes"),
    "mark": (lambda content: b"\xef\xbb\xbf" + content, "byte order mark"),
    "netcdf": (lambda content: b"CDF\x02" + content, "netCDF's classic format"),
    "tar": (in_tar, "tar archive"),
    "npz": (in_npz, "zip archive, as NumPy's npz is"),
    "text": (lambda _: b"404: Not Found\n", "text that begins '404: Not Found'"),
    "matlab": (lambda content: b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + content, "MATLAB's format 5"),
    "unknown": (lambda content: b"\1\2\3\4" + content, "unknown first bytes 01020304"),
    "swapped": (lambda content: b"\xab\x89\x67\x45" + content, "LIME records with their bytes in the wrong order"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_files_are_called_by_what_they_are(kind, links, staghorn, small_gauge, expect_error, rejected, tmp_path):
    make, words = FOREIGN[kind]
    path = tmp_path / "links.h5"
    path.write_bytes(make(formats.nersc_file(links, **FP64)))
    rejected(path, words)
    expect_error(staghorn("solve", "--gauge", path, "--mass", 0.5), 1, path, words)
    expect_error(staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--source", f"file:{path}"), 1, path, words)
    with pytest.raises(sh.Error, match=words.split("'")[0]):
        sh.read_gauge(path)
    with pytest.raises(sh.Error, match="something else" if kind in ("text", "unknown") else words.split("'")[0]):
        sh.read_vectors(path)


@pytest.mark.parametrize("target, words", [("../gone.h5", "a symbolic link to ../gone.h5, which is not there"),
                                           (".git/annex/objects/Xx/Yy/SHA256E-s1--0.h5", "git annex get")])
def test_links_of_the_system_that_lead_nowhere_are_told(target, words, rejected, tmp_path):
    (tmp_path / "links.h5").symlink_to(target)
    rejected(tmp_path / "links.h5", words)


def test_arrays_whose_shape_fits_two_orders_need_a_name(tmp_path):
    u = sh.reference.random_links((4, 6, 2, 4), seed=2)  # [T = 4, Z, Y, X, mu, row, column]
    for made in (lambda: sh.Session(u), lambda: sh.write_gauge(tmp_path / "a.h5", u), lambda: sh.solve(u, 0.5, "point:0,0,0,0")):
        with pytest.raises(sh.Error, match=r"links: expected `order` beside shape \(4, 2, 6, 4, 4, 3, 3\)"):
            made()
    assert sh.Session(u, order="lex").lattice == (4, 6, 2, 4)
    assert np.array_equal(sh.Session(np.moveaxis(u, 4, 0), order="pyquda").links, u)
    sh.write_gauge(tmp_path / "a.h5", np.moveaxis(u, 4, 0), order="pyquda")
    assert np.array_equal(sh.read_gauge(tmp_path / "a.h5")[0], u)
    with pytest.raises(sh.Error, match="order: expected lex"):
        sh.Session(u, order="milc")
    with pytest.raises(sh.Error, match="links: expected shape"):
        sh.Session(u[0], order="pyquda")
    wide = sh.reference.random_links((2, 4, 6, 8), seed=2)
    assert sh.Session(wide).lattice == (2, 4, 6, 8)


def test_hdf5_whose_shape_fits_two_orders_needs_a_checksum(staghorn, expect_error, read_links, inspect, tmp_path):
    """PyQUDA's array where U[T, Z, Y, X, mu] is expected: of 4^4 sites nothing tells the orders apart but a checksum."""
    path, u = tmp_path / "links.h5", formats.random_su3_links((4, 4, 4, 4), seed=2)
    with h5py.File(path, "w") as file:
        file["links"] = np.moveaxis(u, 4, 0)
    for options in ([], ["--no-verify"]):
        expect_error(staghorn("inspect", path, *options), 1, path, "fits U[T, Z, Y, X, mu, 3, 3] and PyQUDA's U[mu, T, Z, Y, X, 3, 3]", "order=")
    with pytest.raises(sh.Error, match="fits U"):
        sh.Context(path, no_verify=True).read(path)
    sh.write_gauge(path, np.moveaxis(u, 4, 0), order="pyquda", force=True)
    assert np.array_equal(read_links(path), u)
    u = formats.random_su3_links((4, 6, 2, 4), seed=2)  # another lattice in the other order
    with h5py.File(path, "w") as file:
        file["links"] = u
    assert np.array_equal(read_links(path, options=["--no-verify"]), u)
    assert any("fits PyQUDA's" in warning for warning in inspect(path, options=["--no-verify"])["warnings"])


def test_a_chunk_is_kept_for_the_slabs_that_need_it(rejected, tmp_path):
    """One chunk for 20 slabs of 8 MiB: a reader that inflates it for each of them refuses the file."""
    path, shape = tmp_path / "links.h5", (24, 32, 16, 24, 4, 3, 3)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("links", shape, "c16", chunks=shape, compression="gzip")
        dataset.id.write_direct_chunk((0,) * 7, zlib.compress(bytes(int(np.prod(shape)) * 16), 9))
    rejected(path, "1179648 of 1179648 links are zero")


def test_chunks_much_larger_than_their_dataset_are_refused(rejected, tmp_path):
    path, chunk = tmp_path / "links.h5", (64, 64, 32, 8, 4, 3, 3)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("links", (4, 4, 4, 4, 4, 3, 3), "c16", maxshape=(None,) * 7, chunks=chunk, compression="gzip")
        dataset.id.write_direct_chunk((0,) * 7, zlib.compress(b"\0" * 1000))
    rejected(path, "chunks that are not much larger than the dataset of 147456 bytes")


@pytest.mark.parametrize("chunks", [(10, 8, 6, 4, 4, 3, 3), (3, 3, 5, 3, 3, 2, 2), (10, 8, 6, 4, 4, 3, 1), (10, 1, 6, 1, 4, 1, 3)])
@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.mpi)])
def test_chunks_of_any_shape_give_the_same_links(chunks, ranks, links, read_links, tmp_path):
    path = own_hdf5(tmp_path / "links.h5", links, chunks=chunks, compression="gzip", shuffle=True)
    assert np.array_equal(read_links(path, ranks=ranks), links)
