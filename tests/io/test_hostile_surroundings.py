"""Files are the same in any surroundings: other locales, odd dates, a process that is killed while it writes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import numpy_formats as formats
import pytest
from program_under_test import built_program
from running_jobs import wait_until

LOCALE_SCRIPT = """
import locale, sys
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
import staghorn
for path in sys.argv[1:]:
    links, info = staghorn.read_gauge(path)
    assert all(check["match"] for check in info["checksums"].values()) and len(info["checksums"]) >= 3, info
    assert "." in info["checksums"]["plaquette"]["computed"]
"""


@pytest.mark.skipif(shutil.which("localedef") is None, reason="no localedef: a locale with a decimal comma cannot be made")
def test_a_decimal_comma_of_the_locale_does_not_matter(links, staghorn, tmp_path):
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True, check=True)
    (tmp_path / "nersc").write_bytes(formats.nersc_file(links))
    staghorn("convert", tmp_path / "nersc", tmp_path / "hdf5", "--format", "hdf5", check=True)
    environment = os.environ | {"LOCPATH": str(tmp_path), "PYTHONPATH": str(built_program("python"))}
    result = subprocess.run([sys.executable, "-c", LOCALE_SCRIPT, tmp_path / "nersc", tmp_path / "hdf5"], env=environment,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("epoch", ["99999999999999999999", "67768036191676799"])
def test_any_source_date_epoch_gives_a_file(epoch, links, staghorn, inspect, tmp_path):
    (tmp_path / "milc").write_bytes(formats.milc_file(links))
    staghorn("convert", tmp_path / "milc", tmp_path / "nersc", "--format", "nersc", check=True, env={"SOURCE_DATE_EPOCH": epoch})
    assert inspect(tmp_path / "nersc")["intact"]


@pytest.mark.parametrize("epoch", ["-1", "tomorrow"])
def test_a_source_date_epoch_that_is_no_time_is_refused(epoch, links, staghorn, tmp_path):
    (tmp_path / "milc").write_bytes(formats.milc_file(links))
    result = staghorn("convert", tmp_path / "milc", tmp_path / "nersc", "--format", "nersc", env={"SOURCE_DATE_EPOCH": epoch})
    assert result.returncode == 1 and "SOURCE_DATE_EPOCH: expected seconds since 1970" in result.stderr
    assert not (tmp_path / "nersc").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_a_killed_writer_leaves_no_file_under_the_final_name(how, links, launch, tmp_path):
    large, output = tmp_path / "large", tmp_path / "output"
    large.write_bytes(formats.milc_file(np.tile(links, (16, 2, 1, 1, 1, 1, 1))))
    output.write_text("precious")
    process = launch("convert", large, output, "--format", "hdf5", "--precision", "fp64", "--force")
    wait_until(lambda: list(tmp_path.glob(".output.partial-*")) or process.poll() is not None)
    process.send_signal(how)
    process.communicate(timeout=180)
    if process.returncode == 0:  # it had finished already
        assert output.read_bytes().startswith(b"\x89HDF")
    else:
        assert output.read_text() == "precious"
