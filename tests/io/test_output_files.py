"""Nothing is lost on writing: no half-written file under the final name, no file replaced unasked, no error unheard."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import numpy_formats as formats
import pytest

FORMATS = ["milc", "nersc", "ildg", "scidac", "hdf5"]


@pytest.fixture(scope="module")
def source(links, tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "links"
    path.write_bytes(formats.milc_file(links))
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_existing_file_needs_force(name, source, staghorn, inspect, tmp_path):
    path = tmp_path / "output"
    path.write_text("precious")
    result = staghorn("convert", source, path, "--format", name)
    assert result.returncode == 1 and str(path) in result.stderr and "--force" in result.stderr
    assert path.read_text() == "precious"
    staghorn("convert", source, path, "--format", name, "--force", check=True)
    assert inspect(path)["format"] == name
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("where", ["missing/output", "/proc/output", "", "/dev/null"])
def test_unwritable_place_is_named(where, ranks, source, staghorn, tmp_path):
    path = tmp_path / where if where else str(tmp_path) + "/"
    result = staghorn("convert", source, path, "--format", "hdf5", "--force", ranks=ranks)
    assert result.returncode == 1
    assert str(path) in result.stderr
    assert ".partial" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_directory_without_permission_is_named(source, staghorn, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    result = staghorn("convert", source, folder / "output", "--format", "milc")
    assert result.returncode == 1 and "Permission denied" in result.stderr and str(folder / "output") in result.stderr


@pytest.fixture(scope="module")
def large_source(links, tmp_path_factory):
    """9 MB of links: MPI itself needs files of a few MB when it starts."""
    path = tmp_path_factory.mktemp("source") / "large"
    path.write_bytes(formats.milc_file(np.tile(links, (16, 1, 1, 1, 1, 1, 1))))
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_write_that_does_not_fit_leaves_nothing(name, large_source, program, tmp_path):
    """A file-size limit stands for a full disk: the write fails in the same place, with another errno."""
    path = tmp_path / "output"
    path.write_text("precious")
    result = subprocess.run(
        ["bash", "-c", 'ulimit -f 6000; exec "$@"', "bash", program, "convert", large_source, path, "--format", name, "--force"],
        capture_output=True, text=True)  # fmt: skip
    assert result.returncode == 1
    assert str(path) in result.stderr and "File too large" in result.stderr and ".partial" not in result.stderr
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", FORMATS)
def test_full_disk_leaves_nothing(name, source, staghorn, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        result = staghorn("convert", source, disk / "output", "--format", name)
        assert result.returncode == 1
        assert str(disk / "output") in result.stderr and "No space left on device" in result.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_milc_has_no_double_precision(source, staghorn, tmp_path):
    result = staghorn("convert", source, tmp_path / "output", "--format", "milc", "--precision", "fp64")
    assert result.returncode == 1 and "fp32" in result.stderr and list(tmp_path.iterdir()) == []


def test_two_rows_are_refused_for_links_outside_su3(links, staghorn, tmp_path):
    """A two-row file whose metadata travelled to links that are no longer in SU(3)."""
    path = tmp_path / "links.h5"
    formats.h5py_file(path, "links", 1.5 * links, {"DATATYPE": "4D_SU3_GAUGE"})
    result = staghorn("convert", path, tmp_path / "output", "--format", "nersc")
    assert result.returncode == 1 and "SU(3)" in result.stderr


def test_symbolic_link_stays_one(source, staghorn, inspect, tmp_path):
    target, name = tmp_path / "target", tmp_path / "name"
    target.write_text("old")
    name.symlink_to(target)
    staghorn("convert", source, name, "--format", "milc", "--force", check=True)
    assert name.is_symlink() and inspect(target)["format"] == "milc"


SU3_ONLY = {"nersc": ["--rows", 3], "nersc-two-rows": ["--rows", 2], "ildg": []}


@pytest.mark.parametrize("name", SU3_ONLY)
@pytest.mark.parametrize("factor", [1.5, 300.0])
def test_links_outside_su3_are_refused_by_formats_of_su3_links(name, factor, links, staghorn, tmp_path):
    """Formats whose name says SU(3) take no smeared links; wide header numbers would move the first links, too."""
    path = tmp_path / "links.milc"
    path.write_bytes(formats.milc_file(factor * links))
    result = staghorn("convert", path, tmp_path / "output", "--format", name.split("-")[0], *SU3_ONLY[name])
    assert result.returncode == 1 and "expected links in SU(3)" in result.stderr and "found" in result.stderr
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["milc", "scidac", "hdf5"])
def test_links_outside_su3_survive_in_formats_of_any_links(name, links, staghorn, read_links, tmp_path):
    path, output = tmp_path / "links.milc", tmp_path / "output"
    wide = (300 * links).astype(np.complex64).astype(complex)
    path.write_bytes(formats.milc_file(wide))
    staghorn("convert", path, output, "--format", name, check=True)
    assert np.array_equal(read_links(output), wide)
