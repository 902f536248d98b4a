"""The gauge formats once more, in NumPy and from their definitions: what the program's readers and writers are judged by.

Links are complex arrays [T, Z, Y, X, mu, row, column]. Writers return the bytes of a file, readers take them.
"""

from __future__ import annotations

import io
import struct
import zlib

import h5py
import numpy as np

LIME_MAGIC = 0x456789AB
EXTENTS = (4, 6, 8, 10)  # X, Y, Z, T of the lattice of these tests


def random_su3_links(extents, seed: int) -> np.ndarray:
    """Links distributed over SU(3), from QR decompositions of Gaussian matrices. extents = X, Y, Z, T."""
    generator = np.random.default_rng(seed)
    shape = (*reversed(extents), 4, 3, 3)
    q, r = np.linalg.qr(generator.normal(size=shape) + 1j * generator.normal(size=shape))
    diagonal = np.einsum("...ii->...i", r)
    q = q * (diagonal / abs(diagonal))[..., None, :]
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


def plaquette(links: np.ndarray) -> float:
    """Mean Re tr U_P / 3."""
    axis = {0: 3, 1: 2, 2: 1, 3: 0}
    traces = []
    for mu in range(4):
        for nu in range(mu):
            u, v = links[..., mu, :, :], links[..., nu, :, :]
            v_ahead, u_ahead = np.roll(v, -1, axis[mu]), np.roll(u, -1, axis[nu])
            traces.append(np.einsum("...ij,...jk,...lk,...il->...", u, v_ahead, u_ahead.conj(), v.conj()).real.mean() / 3)
    return float(np.mean(traces))


def link_trace(links: np.ndarray) -> float:
    """Mean Re tr U / 3."""
    return float(np.einsum("...ii->...", links).real.mean() / 3)


def third_row(links: np.ndarray) -> np.ndarray:
    """The links with row 2 replaced by conj(row 0 x row 1)."""
    return np.concatenate([links[..., :2, :], np.cross(links[..., 0, :], links[..., 1, :]).conj()[..., None, :]], axis=-2)


def real_bytes(numbers: np.ndarray, bits: int, byte_order: str) -> bytes:
    """Complex numbers as consecutive reals of 32 or 64 bits; byte_order is '<' or '>'."""
    flat = np.ascontiguousarray(numbers).astype(np.complex128).view(np.float64)
    return flat.astype(f"{byte_order}f{bits // 8}").tobytes()


def complex_numbers(data: bytes, bits: int, byte_order: str) -> np.ndarray:
    return np.frombuffer(data, f"{byte_order}f{bits // 8}").astype(np.float64).view(np.complex128)


# Checksums


def rotated_left(words: np.ndarray, places: np.ndarray) -> np.ndarray:
    words, places = words.astype(np.uint64), places.astype(np.uint64)
    return ((words << places) | (words >> (np.uint64(32) - places))) & np.uint64(0xFFFFFFFF)


def milc_checksums(data: bytes, byte_order: str) -> tuple[int, int]:
    """sum29, sum31 over 32-bit words."""
    words = np.frombuffer(data, f"{byte_order}u4")
    position = np.arange(words.size)
    return tuple(int(np.bitwise_xor.reduce(rotated_left(words, position % period))) for period in (29, 31))


def nersc_checksum(data: bytes, byte_order: str) -> int:
    """The sum of 32-bit words modulo 2^32."""
    return int(np.frombuffer(data, f"{byte_order}u4").sum(dtype=np.uint64)) & 0xFFFFFFFF


def scidac_checksums(data: bytes, bytes_per_site: int) -> tuple[int, int]:
    """suma, sumb over the CRC-32 of sites."""
    crc = np.array([zlib.crc32(data[at : at + bytes_per_site]) for at in range(0, len(data), bytes_per_site)])
    site = np.arange(crc.size)
    return tuple(int(np.bitwise_xor.reduce(rotated_left(crc, site % period))) for period in (29, 31))


# Writers


def milc_file(links, byte_order="<", order=0, magic=20103) -> bytes:
    data = real_bytes(links, 32, byte_order)
    extents = links.shape[3::-1]
    header = struct.pack(f"{byte_order}5i64si", magic, *extents, b"Thu Jan  1 00:00:00 1970", order)
    return header + struct.pack(f"{byte_order}2I", *milc_checksums(data, byte_order)) + data


def nersc_file(links, rows=3, floating_point="IEEE32BIG", byte_order=None, **changes) -> bytes:
    """`changes` replace header entries; None removes one."""
    byte_order = byte_order or ("<" if floating_point.endswith("LITTLE") else ">")
    data = real_bytes(links[..., :rows, :], int(floating_point[4:6]), byte_order)
    header = {"HDR_VERSION": "1.0", "DATATYPE": "4D_SU3_GAUGE" + ("_3x3" if rows == 3 else "")}
    header |= {f"DIMENSION_{mu + 1}": extent for mu, extent in enumerate(links.shape[3::-1])}
    header |= {"CHECKSUM": f"{nersc_checksum(data, byte_order):x}", "LINK_TRACE": f"{link_trace(links):.10f}"}
    header |= {"PLAQUETTE": f"{plaquette(links):.10f}", "ENSEMBLE_ID": "a test", "FLOATING_POINT": floating_point}
    header |= changes
    lines = [f"{key} = {value}" for key, value in header.items() if value is not None]
    return ("\n".join(["BEGIN_HEADER", *lines, "END_HEADER"]) + "\n").encode() + data


def lime_record(kind: str, data: bytes | str, first=False, last=False) -> bytes:
    data = data if isinstance(data, bytes) else data.encode()
    flags = (0x8000 if first else 0) | (0x4000 if last else 0)
    return struct.pack(">IHHQ128s", LIME_MAGIC, 1, flags, len(data), kind.encode()) + data + bytes(-len(data) % 8)


def scidac_records(extents, datatype, bits, type_bytes, count, data, ildg="", checksum=True, volume_format=0, data_type=None):
    dims = " ".join(str(extent) for extent in extents)
    letter = {32: "F", 64: "D"}[bits]
    records = [
        lime_record("scidac-private-file-xml", f"<scidacFile><version>1.1</version><spacetime>4</spacetime>"
                    f"<dims>{dims} </dims><volfmt>{volume_format}</volfmt></scidacFile>", first=True),
        lime_record("scidac-file-xml", "<title>a test</title>", last=True),
        lime_record("scidac-private-record-xml", f"<scidacRecord><version>1.0</version><globaldata>0</globaldata>"
                    f"<datatype>QDP_{letter}3_{datatype}</datatype><precision>{letter}</precision><colors>3</colors>"
                    f"<typesize>{type_bytes}</typesize><datacount>{count}</datacount></scidacRecord>", first=True),
        lime_record("scidac-record-xml", "<info>none</info>"),
    ]
    if ildg:
        records += [lime_record("ildg-format", ildg), lime_record("ildg-data-lfn", "lfn://a/test")]
    records.append(lime_record(data_type or ("ildg-binary-data" if ildg else "scidac-binary-data"), data, last=not checksum))
    if checksum:
        suma, sumb = scidac_checksums(data, type_bytes * count)
        records.append(lime_record("scidac-checksum", f"<scidacChecksum><version>1.0</version><suma>{suma:x}</suma>"
                                   f"<sumb>{sumb:x}</sumb></scidacChecksum>", last=True))
    return b"".join(records)


def scidac_file(links, bits=32, **options) -> bytes:
    return scidac_records(links.shape[3::-1], "ColorMatrix", bits, 18 * bits // 8, 4, real_bytes(links, bits, ">"), **options)


def ildg_file(links, bits=32, field="su3gauge", **options) -> bytes:
    extents = "".join(f"<l{name}>{extent}</l{name}>" for name, extent in zip("xyzt", links.shape[3::-1]))
    xml = (f'<?xml version="1.0"?><ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version>'
           f"<field> {field} </field><precision>{bits}</precision>{extents}</ildgFormat>")
    return scidac_file(links, bits, ildg=xml, **options)


def volumes(file: bytes, parts) -> list[bytes]:
    """A SciDAC file of `formats` in QIO's partfiles: `parts` are arrays of site numbers, in the order in which they follow."""
    fields = lime_records(file)
    extents = [int(n) for n in between(fields[0][2].decode(), "dims").split()]
    made = []
    for number, sites in enumerate(parts):
        records = []
        for kind, flags, data in fields:
            if kind.endswith("binary-data"):
                data = np.frombuffer(data, np.uint8).reshape(int(np.prod(extents)), -1)[sites].tobytes()
            elif number > 0 and kind != "scidac-private-file-xml":
                continue
            if kind == "scidac-private-file-xml":
                if number == 0:
                    records.append(lime_record(kind, data.replace(b"<volfmt>0<", b"<volfmt>2<"), first=True))
                records.append(lime_record("scidac-sitelist", np.asarray(sites).astype(">u4").tobytes(), last=number > 0))
            else:
                records.append(lime_record(kind, data, bool(flags & 0x8000), bool(flags & 0x4000)))
        made.append(b"".join(records))
    return made


def bare_ildg_file(links, bits=64) -> bytes:
    """The two records that ILDG asks for, and no other. [ILDG Binary File Format, rev. 1.1, 2005]"""
    return b"".join(lime_record(kind, data, kind == "ildg-format", kind == "ildg-binary-data")
                    for kind, _, data in lime_records(ildg_file(links, bits)) if kind in ("ildg-format", "ildg-binary-data"))


def scidac_vector_file(vectors, bits=32, **options) -> bytes:
    """vectors: [T, Z, Y, X, 3], or [n, T, Z, Y, X, 3] for n vectors a site."""
    vectors = vectors if vectors.ndim == 6 else vectors[None]
    data = real_bytes(np.moveaxis(vectors, 0, 4), bits, ">")
    return scidac_records(vectors.shape[4:0:-1], "ColorVector", bits, 6 * bits // 8, len(vectors), data, **options)


def ksprop_file(vectors, source="complex", bits=32) -> bytes:
    """MILC's staggered propagators in SciDAC: for each source colour a source, then the vector. [QIO, qioxml_usqcd_ksprop.h]

    source: "complex" on one time slice, or "vector". vectors: [source colour, T, Z, Y, X, 3].
    """
    extents = vectors.shape[4:0:-1]
    file = scidac_vector_file(vectors[0], bits)
    head = [lime_record(kind, b"<usqcdKSPropFile><version>1.0</version></usqcdKSPropFile>" if kind == "scidac-file-xml" else data,
                        bool(flags & 0x8000), bool(flags & 0x4000)) for kind, flags, data in lime_records(file)[:2]]
    content = b"".join(head)

    def record(numbers, datatype, xml, kind=0):
        data = real_bytes(numbers, bits, ">")
        letter, size = {32: "F", 64: "D"}[bits], len(data) // int(np.prod(extents[:3])) // (1 if kind else extents[3])
        hyper = f"<recordtype>{kind}</recordtype><hyperlower>0 0 0 2</hyperlower>" if kind else ""
        suma, sumb = scidac_checksums(data, size)
        return (lime_record("scidac-private-record-xml", f"<scidacRecord><version>1.1</version>{hyper}<datatype>{datatype}</datatype>"
                            f"<precision>{letter}</precision><colors>3</colors><typesize>{size}</typesize><datacount>1</datacount>"
                            f"</scidacRecord>", first=True)
                + lime_record("scidac-record-xml", xml) + lime_record("scidac-binary-data", data)
                + lime_record("scidac-checksum", f"<scidacChecksum><suma>{suma:x}</suma><sumb>{sumb:x}</sumb></scidacChecksum>", last=True))

    letter = {32: "F", 64: "D"}[bits]
    for color, vector in enumerate(vectors):
        about = "<usqcdSourceInfo><version>1.0</version><info>wall</info></usqcdSourceInfo>"
        if source == "complex":
            content += record(vector[2, ..., :1], f"QDP_{letter}_Complex", about, kind=2)
        else:
            content += record(7 * vector, f"QDP_{letter}3_ColorVector", about)
        content += record(vector, f"QDP_{letter}3_ColorVector", f"<usqcdInfo><version>1.0</version><color>{color}</color></usqcdInfo>")
    return content


def fnal_propagator(vectors, byte_order="<", order=0, element_bytes=4) -> tuple[bytes, str]:
    """A propagator [source colour, T, Z, Y, X, 3], and MILC's text file of checksums, one pair for each time slice."""
    extents = vectors.shape[4:0:-1]
    header = struct.pack(f"{byte_order}9i", 0x71626434, 0, element_bytes, 18, *extents, order)
    slices = [real_bytes(np.moveaxis(vectors[:, t], 0, 3), 32, byte_order) for t in range(vectors.shape[1])]
    sums = [milc_checksums(data, byte_order) for data in slices]
    info = "".join(f'quark.t[{t}].checksum  "{a:x} {b:x}"\n' for t, (a, b) in enumerate(sums))
    return header + b"".join(slices), 'ksprop.time_stamp  "a test"\n' + info


def odd_sites(extents):
    """Coordinates x, y, z, t of the odd sites in openQCD's order: z fastest, then y, x, t."""
    x, y, z, t = extents
    t, x, y, z = (axis.ravel() for axis in np.meshgrid(*map(np.arange, (t, x, y, z)), indexing="ij"))
    odd = (t + x + y + z) % 2 == 1
    return x[odd], y[odd], z[odd], t[odd]


def openqcd_file(links) -> bytes:
    """[M. Luescher, openQCD, main/README.io]: extents T, X, Y, Z, the plaquette, and eight links at each odd site."""
    extents = links.shape[3::-1]
    site = odd_sites(extents)
    columns = []
    for mu in (3, 0, 1, 2):
        behind = [coordinate.copy() for coordinate in site]
        behind[mu] = (behind[mu] - 1) % extents[mu]
        for x, y, z, t in (site, behind):
            columns.append(links[t, z, y, x, mu])
    header = struct.pack("<4id", extents[3], *extents[:3], 3 * plaquette(links))
    return header + real_bytes(np.stack(columns, axis=1), 64, "<")


def npy_file(links, bits=64, byte_order="<", version=(1, 0)) -> bytes:
    """PyQUDA's order: the direction first."""
    buffer = io.BytesIO()
    numbers = np.ascontiguousarray(np.moveaxis(links, 4, 0)).astype(f"{byte_order}c{bits // 4}")
    np.lib.format.write_array(buffer, numbers, version=version)
    return buffer.getvalue()


def kyu_file(links) -> bytes:
    """mu, column, row, real or imaginary part, and then the sites: fp64, big-endian."""
    reals = np.stack([links.real, links.imag], axis=-1)  # t, z, y, x, mu, row, column, part
    return reals.transpose(4, 6, 5, 7, 0, 1, 2, 3).astype(">f8").tobytes()


def pyquda_hdf5_file(path, links, names="XYZT", dtype=np.complex128, **options):
    """A group with a dataset for each direction, and an exclusive or of words for each site. Returns `path`."""
    with h5py.File(path, "w") as file:
        group = file.create_group("LatticeColorMatrix")
        group.attrs["Lattice"], group.attrs["Color"] = " ".join(map(str, links.shape[3::-1])), "3"
        for mu, name in enumerate(names):
            data = np.ascontiguousarray(links[..., mu, :, :]).astype(dtype)
            dataset = group.create_dataset(name, data=data, **options)
            words = np.bitwise_xor.reduce(data.view("<u4").reshape(data.size // 9, -1), axis=1)
            for period in (29, 31):
                rotated = rotated_left(words, np.arange(words.size) % period)
                dataset.attrs[f"sum{period}"] = f"{int(np.bitwise_xor.reduce(rotated)):08x}"
    return path


def h5py_checksums(dataset: np.ndarray) -> dict[str, str]:
    """suma and sumb of links [..., 4, 3, 3] or vectors [..., 3] as they lie in memory."""
    site_bytes = dataset.itemsize * (36 if dataset.shape[-3:] == (4, 3, 3) else 3)
    suma, sumb = scidac_checksums(np.ascontiguousarray(dataset).tobytes(), site_bytes)
    return {"suma": f"{suma:08x}", "sumb": f"{sumb:08x}"}


def h5py_file(path, name, numbers, attributes=None, **options):
    """Writes links or vectors as h5py does, checksums and all; texts have variable length there. Returns `path`."""
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset(name, data=numbers, **options)
        dataset.attrs.update(h5py_checksums(np.asarray(numbers).astype(dataset.dtype.newbyteorder("<"))))
        dataset.attrs.update(attributes or {})
    return path


# Readers


def read_milc(file: bytes):
    byte_order = "<" if file[:4] == struct.pack("<I", 20103) else ">"
    magic, x, y, z, t, _, order, sum29, sum31 = struct.unpack(f"{byte_order}5i64si2I", file[:96])
    assert (magic, order) == (20103, 0)
    assert milc_checksums(file[96:], byte_order) == (sum29, sum31)
    return complex_numbers(file[96:], 32, byte_order).reshape(t, z, y, x, 4, 3, 3)


def read_nersc(file: bytes):
    text, data = file.split(b"END_HEADER\n", 1)
    header = dict(line.split(" = ", 1) for line in text.decode().splitlines()[1:])
    x, y, z, t = (int(header[f"DIMENSION_{mu}"]) for mu in (1, 2, 3, 4))
    rows = {"4D_SU3_GAUGE": 2, "4D_SU3_GAUGE_3x3": 3}[header["DATATYPE"]]
    bits, order = {"IEEE32BIG": (32, ">"), "IEEE64BIG": (64, ">")}[header["FLOATING_POINT"]]
    links = complex_numbers(data, bits, order).reshape(t, z, y, x, 4, rows, 3)
    links = links if rows == 3 else third_row(links)
    assert int(header["CHECKSUM"], 16) == nersc_checksum(data, order)
    assert abs(float(header["PLAQUETTE"]) - plaquette(links)) < (1e-7 if bits == 32 else 1e-11)
    assert abs(float(header["LINK_TRACE"]) - link_trace(links)) < (1e-7 if bits == 32 else 1e-11)
    return links


def read_openqcd(file: bytes):
    t, x, y, z, stored = struct.unpack("<4id", file[:24])
    links, extents = np.zeros((t, z, y, x, 4, 3, 3), complex), (x, y, z, t)
    columns = complex_numbers(file[24:], 64, "<").reshape(-1, 8, 3, 3)
    site = odd_sites(extents)
    for k, mu in enumerate((3, 0, 1, 2)):
        behind = [coordinate.copy() for coordinate in site]
        behind[mu] = (behind[mu] - 1) % extents[mu]
        for step, (x, y, z, t) in enumerate((site, behind)):
            links[t, z, y, x, mu] = columns[:, 2 * k + step]
    assert abs(stored / 3 - plaquette(links)) < 1e-13
    return links


def read_npy(file: bytes):
    return np.moveaxis(np.load(io.BytesIO(file)), 0, 4)


def read_kyu(file: bytes, extents=EXTENTS):
    x, y, z, t = extents
    reals = np.frombuffer(file, ">f8").reshape(4, 3, 3, 2, t, z, y, x).transpose(4, 5, 6, 7, 0, 2, 1, 3)
    return reals[..., 0] + 1j * reals[..., 1]


def lime_records(file: bytes):
    records, at = [], 0
    while at < len(file):
        magic, version, flags, size, kind = struct.unpack(">IHHQ128s", file[at : at + 144])
        assert (magic, version) == (LIME_MAGIC, 1)
        records.append((kind.split(b"\0")[0].decode(), flags, file[at + 144 : at + 144 + size]))
        at += 144 + (size + 7) // 8 * 8
    return records


def between(text: str, tag: str) -> str:
    return text.split(f"<{tag}>")[1].split(f"</{tag}>")[0].strip()


def read_lime(file: bytes, kind: str):
    """kind is 'ildg' or 'scidac'."""
    records = lime_records(file)
    texts = {name: data.decode() for name, _, data in records if not name.endswith("binary-data")}
    data = next(data for name, _, data in records if name == f"{kind}-binary-data")
    x, y, z, t = (int(extent) for extent in between(texts["scidac-private-file-xml"], "dims").split())
    record = texts["scidac-private-record-xml"]
    bits = {"F": 32, "D": 64}[between(record, "precision")]
    assert int(between(record, "typesize")) * int(between(record, "datacount")) == 72 * bits // 8
    if kind == "ildg":
        form = texts["ildg-format"]
        assert [between(form, f"l{name}") for name in "xyzt"] == [str(n) for n in (x, y, z, t)]
        assert between(form, "field") == "su3gauge" and between(form, "precision") == str(bits)
    sums = tuple(int(between(texts["scidac-checksum"], name), 16) for name in ("suma", "sumb"))
    assert sums == scidac_checksums(data, 72 * bits // 8)
    # Messages: the first record of each begins with flag 8000, its last has flag 4000.
    begins = [bool(flags & 0x8000) for _, flags, _ in records]
    ends = [bool(flags & 0x4000) for _, flags, _ in records]
    assert begins == [True] + ends[:-1] and ends[-1]
    return complex_numbers(data, bits, ">").reshape(t, z, y, x, 4, 3, 3)


def read_scidac_vectors(file: bytes) -> np.ndarray:
    """Colour vectors [n, T, Z, Y, X, 3] of a file with one field."""
    records = {kind: data for kind, _, data in lime_records(file)}
    record = records["scidac-private-record-xml"].decode()
    bits = {"QDP_F3_ColorVector": 32, "QDP_D3_ColorVector": 64}[between(record, "datatype")]
    count, data = int(between(record, "datacount")), records["scidac-binary-data"]
    assert int(between(record, "typesize")) == 6 * bits // 8
    x, y, z, t = map(int, between(records["scidac-private-file-xml"].decode(), "dims").split())
    sums = records["scidac-checksum"].decode()
    assert tuple(int(between(sums, name), 16) for name in ("suma", "sumb")) == scidac_checksums(data, count * 6 * bits // 8)
    return np.moveaxis(complex_numbers(data, bits, ">").reshape(t, z, y, x, count, 3), 4, 0)
