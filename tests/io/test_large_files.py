"""Files of hundreds of gigabytes, whose headers are real and whose numbers are holes: sizes, offsets, what `plan` says of reading."""

from __future__ import annotations

import json
import struct

import numpy as np
import numpy_formats as formats
import pytest

LATTICE = (144, 144, 144, 288)
SITES = 144**3 * 288


@pytest.fixture
def sparse(tmp_path):
    """sparse(name, header, bytes) -> a file of that header and so many bytes behind it, which take no room on the disk."""

    def make(name, header, size):
        path = tmp_path / name
        with open(path, "wb") as file:
            file.write(header)
            try:
                file.truncate(len(header) + size)
            except OSError as error:
                pytest.skip(f"no sparse files of {size} bytes here: {error}")
        assert path.stat().st_blocks * 512 < 1 << 20
        return path

    return make


def nersc_header(lattice, floats="IEEE64BIG", rows=2):
    lines = ["BEGIN_HEADER", "HDR_VERSION = 1.0", f"DATATYPE = 4D_SU3_GAUGE{'' if rows == 2 else '_3x3'}", *(f"DIMENSION_{k + 1} = {n}" for k, n in enumerate(lattice)),
             "CHECKSUM = 0", "LINK_TRACE = 0", "PLAQUETTE = 0", f"FLOATING_POINT = {floats}", "END_HEADER\n"]
    return "\n".join(lines).encode()


def milc_header(lattice):
    return struct.pack("<I4i64sI2I", 0x4E87, *lattice, b"Thu Jan  1 00:00:00 1970", 0, 0, 0)


def ildg_header(lattice):
    """Up to the numbers, which are the last record."""
    extents = "".join(f"<l{name}>{extent}</l{name}>" for name, extent in zip("xyzt", lattice))
    xml = f'<ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version><field>su3gauge</field><precision>64</precision>{extents}</ildgFormat>'
    empty = formats.scidac_records(lattice, "ColorMatrix", 64, 144, 4, b"", ildg=xml, checksum=False)
    return empty[:-136] + struct.pack(">Q", int(np.prod(lattice, dtype=np.int64)) * 576) + empty[-128:]


HEADERS = {"nersc": (nersc_header(LATTICE), 4 * 12 * 8), "milc": (milc_header(LATTICE), 4 * 18 * 4), "ildg": (ildg_header(LATTICE), 4 * 18 * 8)}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_large_files_are_shown(staghorn, sparse, expect_error, kind):
    header, site_bytes = HEADERS[kind]
    whole = sparse("links", header, SITES * site_bytes)
    shown = json.loads(staghorn("inspect", whole, "--header", "--json", check=True).stdout)
    assert (shown["format"], tuple(shown["lattice"]), shown["bytes"]) == (kind, LATTICE, SITES * site_bytes)
    assert "not read and not verified" in staghorn("inspect", "--header", whole, check=True).stdout
    size = SITES * site_bytes + (len(header) if kind != "ildg" else 0)  # of the file; LIME tells that of the record
    short = sparse("short", header, SITES * site_bytes - 5)
    expect_error(staghorn("inspect", short, "--header"), 1, "truncated", f"{size} bytes", f"found {size - 5}")


def test_links_larger_than_memory_are_told_before_any_is_read(staghorn, sparse, expect_error):
    whole = sparse("links", nersc_header(LATTICE), SITES * 4 * 12 * 8)
    expect_error(staghorn("inspect", whole, env={"STAGHORN_HOST_MEMORY": "1e11"}), 1, "expected memory for links of 144x144x144x288, 495.34 GB for each rank", "--header")
    solve = ["solve", "--gauge", whole, "--mass", 0.1, "--output", whole.parent / "x.h5"]
    expect_error(staghorn(*solve, env={"STAGHORN_HOST_MEMORY": "1e11"}), 1, "144x144x144x288", "This would fit: ")


@pytest.mark.parametrize("hole", [1 << 32, (1 << 40) + 8])
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
def test_links_behind_so_many_bytes_are_read(staghorn, sparse, links, tmp_path, hole, ranks):
    """A record of LIME that others left stands in front of them."""
    rest = formats.ildg_file(links, 64)
    head = struct.pack(">IHHQ128s", formats.LIME_MAGIC, 1, 0xC000, hole, b"comment-of-others")
    path = sparse("far.ildg", head, hole)
    with open(path, "ab") as file:
        file.write(rest)
    (tmp_path / "near.ildg").write_bytes(rest)
    far, near = (json.loads(staghorn("inspect", file, "--json", ranks=ranks, check=True).stdout) for file in (path, tmp_path / "near.ildg"))
    assert far["plaquette"] == near["plaquette"] and far["checksums"] == near["checksums"] and far["intact"]


def seconds(staghorn, *options):
    """Of one plan; and all of its figures."""
    row, = json.loads(staghorn("plan", "--lattice", "192x192x192x384", "--machine", "h200", "--json", *options, check=True).stdout)["plans"][0]["reading"]
    assert row["seconds"] == pytest.approx(row["byte_seconds"] + row["latency_seconds"] + row["message_seconds"])
    return row["seconds"], row


def test_plan_tells_how_long_reading_takes(staghorn):
    """192^3 x 384 on 512 nodes: by the stripes while these are few, then by ranks; in requests of megabytes."""
    nodes = ["--gpus", 4096]
    file = 192**3 * 384 * 4 * 18 * 4
    few, figures = seconds(staghorn, *nodes, "--stripes", 4)
    assert figures["bytes"] == file and figures["bound_by"] == "stripes" and few == pytest.approx(file / 6e9, rel=0.05)
    assert figures["request_bytes"] > 1 << 20
    many, figures = seconds(staghorn, *nodes, "--stripes", 4096)
    assert figures["bound_by"] == "ranks" and figures["byte_seconds"] == pytest.approx(file / 4096 / 1e9) and many < few / 50
    double, _ = seconds(staghorn, *nodes, "--stripes", 4, "--file-precision", "fp64")
    assert double == pytest.approx(2 * few, rel=0.02)
    alone, figures = seconds(staghorn, "--grid", "1,1,1,64", "--stripes", 64, "--request-latency", 0, "--rank-rate", 2)
    assert alone == pytest.approx(file / 64 / 1.5e9) and figures["message_seconds"] == figures["latency_seconds"] == 0
    text = staghorn("plan", "--lattice", "192x192x192x384", *nodes, "--stripes", "4,64", check=True).stdout
    assert "reading links of 782.76 GB" in text and "assumed: 1.5 GB/s a stripe, 1 GB/s a rank, 2 ms a request" in text
    assert text.count("bound by the stripes") == 2


@pytest.mark.parametrize("options, words", [(["--stripes", 0], ["--stripes", "numbers from 1"]), (["--stripes", 4, "--stripe-rate", 0], ["--stripe-rate", "above 0"]),
                                            (["--rank-rate", 2], ["--rank-rate", "--stripes beside it"]), (["--stripes", 4, "--request-latency", -1], ["at least 0"])])
def test_file_systems_that_cannot_be_are_refused(staghorn, expect_error, options, words):
    expect_error(staghorn("plan", "--lattice", "8x8x8x16", *options), 2, *words)
