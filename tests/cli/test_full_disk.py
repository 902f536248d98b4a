"""A disk that fills up while a solve writes: an error, no half-written file, and the report still there."""

from __future__ import annotations

import json
import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """disk(bytes) -> folder on a file system of that size, or a skip where this user may not mount one."""
    mounted = []

    def mount(size: int):
        folder = tmp_path / "disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            made = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("no mount on this machine")
        if made.returncode != 0:
            pytest.skip(f"no small disk to fill: {made.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
def test_full_disk_loses_neither_report_nor_name(staghorn, small_gauge, small_disk, expect_error, tmp_path, ranks):
    disk, report = small_disk(64 * 1024), tmp_path / "report.json"
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--output", disk / "x.h5",
                      "--report", report, ranks=ranks)
    expect_error(result, 1, disk / "x.h5", "No space left")
    assert list(disk.iterdir()) == []
    assert "was not written" in json.loads(report.read_text())["explanation"]


def test_full_disk_leaves_no_half_report(staghorn, small_gauge, small_disk, expect_error):
    disk = small_disk(4096)
    (disk / "filling").write_bytes(b"x" * 4096)
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--report", disk / "r.json")
    expect_error(result, 1, disk / "r.json", "No space left")
    assert [path.name for path in disk.iterdir()] == ["filling"]


def test_full_disk_keeps_the_file_that_was_there(staghorn, small_gauge, small_disk, expect_error):
    disk = small_disk(64 * 1024)
    (disk / "x.h5").write_bytes(b"precious")
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--output", disk / "x.h5", "--force")
    expect_error(result, 1, disk / "x.h5")
    assert (disk / "x.h5").read_bytes() == b"precious"
    assert len(list(disk.iterdir())) == 1
