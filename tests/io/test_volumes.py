"""SciDAC files in parts, as QIO writes them: any share of the sites in each volume, in any order."""

from __future__ import annotations

import numpy as np
import numpy_formats as formats
import pytest
from numpy_formats import EXTENTS

SITES = np.arange(int(np.prod(EXTENTS))).reshape(EXTENTS[::-1])
# Hypercubes in lexicographic order (partfiles of a machine), a process grid's sites even first (multifiles), any.
PARTS = {
    "slabs": [SITES[:4].ravel(), SITES[4:].ravel()],
    "blocks": [SITES[5 * t : 5 * t + 5, :, :, 2 * x : 2 * x + 2].ravel() for t in (0, 1) for x in (0, 1)],
    "even-first": [np.concatenate([SITES.ravel()[SITES.ravel() % 2 == p] for p in (0, 1)])],
    "shuffled": np.array_split(np.random.default_rng(3).permutation(SITES.ravel()), 3),
}


def write_volumes(folder, contents, step=1):
    """`step`: QIO numbers volumes by the rank that wrote them."""
    for number, content in enumerate(contents):
        (folder / f"links.vol{number * step:04}").write_bytes(content)
    return folder / "links.vol0000"


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("parts", PARTS)
def test_links_in_volumes_are_those_of_one_file(parts, ranks, links, read_links, tmp_path):
    path = write_volumes(tmp_path, formats.volumes(formats.scidac_file(links, 64), PARTS[parts]))
    assert np.array_equal(read_links(path, ranks=ranks), links)


def test_ildg_in_volumes_of_some_ranks_is_read(links, read_links, inspect, tmp_path):
    path = write_volumes(tmp_path, formats.volumes(formats.ildg_file(links, 64), PARTS["blocks"]), step=16)
    (tmp_path / "links.vol0016.md5").write_text("no volume")
    assert np.array_equal(read_links(path), links)
    found = inspect(path)
    assert found["format"] == "ildg" and found["intact"] and set(found["checksums"]) == {"suma", "sumb"}


def test_vectors_in_volumes_are_a_source(staghorn, small_gauge, tmp_path):
    vectors = np.random.default_rng(8).normal(size=(2, *EXTENTS[::-1], 3)) + 0.25j
    whole = formats.scidac_vector_file(vectors, 64)
    (tmp_path / "whole").write_bytes(whole)
    path = write_volumes(tmp_path, formats.volumes(whole, PARTS["shuffled"]))
    for name in ("whole", path.name):
        staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--source", f"file:{tmp_path / name}", "--output",
                 tmp_path / f"{name}.npy", check=True)
    assert np.array_equal(np.load(tmp_path / "whole.npy"), np.load(tmp_path / f"{path.name}.npy"))


def damage(name, contents, folder):
    if name == "absent":
        return contents[:-1], ["960", "links.vol0000"]
    if name == "twice":
        return [contents[0], contents[0]], ["site 960 once", "site 0 twice"]
    if name == "flipped":
        middle = bytearray(contents[1])
        middle[len(middle) // 2] ^= 1
        return [contents[0], bytes(middle)], ["damaged", "suma stored"]
    if name == "cut":
        return [contents[0], contents[1][:-1000]], ["truncated", "vol0001"]
    if name == "no-list":
        return [contents[0], contents[1].replace(b"scidac-sitelist", b"scidac-sitelisp")], ["scidac-sitelist", "vol0001"]
    wrong = contents[1].replace((1919).to_bytes(4, "big"), (1 << 31).to_bytes(4, "big"))
    return [contents[0], wrong], ["site 1919 once", "not at all"]


@pytest.mark.parametrize("name", ["absent", "twice", "flipped", "cut", "no-list", "site-beyond"])
def test_damaged_volumes_are_refused(name, links, staghorn, expect_error, tmp_path):
    halves = [SITES[:5].ravel(), SITES[5:].ravel()]
    contents, words = damage(name, formats.volumes(formats.scidac_file(links, 64), halves), tmp_path)
    path = write_volumes(tmp_path, contents)
    expect_error(staghorn("inspect", path), 1, "links", *words)


def test_the_first_volume_must_have_its_name(links, rejected, tmp_path):
    (tmp_path / "links").write_bytes(formats.volumes(formats.scidac_file(links, 64), PARTS["slabs"])[0])
    rejected(tmp_path / "links", "several volumes", ".vol0000")


def test_more_volumes_than_a_process_may_have_files(links, staghorn, tmp_path):
    """One line of x in each of 480 volumes, and 64 files at a time."""
    parts = np.split(SITES.ravel(), 480)
    path = write_volumes(tmp_path, formats.volumes(formats.scidac_file(links, 64), parts))
    found = staghorn("convert", path, tmp_path / "whole.scidac", "--precision", "fp64", under=["prlimit", "--nofile=64"], check=True)
    assert "4x6x8x10" in found.stdout
    whole = (tmp_path / "whole.scidac").read_bytes()
    assert links.astype(">c16").tobytes() in whole
