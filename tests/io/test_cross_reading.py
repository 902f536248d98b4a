"""Every format against a reader or writer that is not Staghorn's, and the table of docs/files.md that says which.

PyQUDA's pyquda_io is a package of its own. `./dev test` installs it; where it is absent its tests are skipped, and say so.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy_formats as formats
import pytest

HERE = Path(__file__).resolve().parent
HAS_PYQUDA = importlib.util.find_spec("pyquda_io") is not None
needs_pyquda = pytest.mark.skipif(not HAS_PYQUDA, reason="pyquda_io is absent: pip install --no-deps pyquda-utils==0.10.54.post0")

# PyQUDA writes the extents of openQCD's header in the order T, Z, Y, X, openQCD T, X, Y, Z. They agree where X = Z.
EXTENTS = (8, 6, 8, 4)
READ_BY_PYQUDA = ["milc", "nersc", "ildg", "npy", "openqcd", "kyu"]
WRITTEN_BY_PYQUDA = ["milc", "nersc", "npy", "openqcd", "kyu"]
ALONE = {"npy": ["--no-verify"], "kyu": ["--no-verify", "--kyu", "x".join(map(str, EXTENTS))]}

# Format: who reads what Staghorn writes, who writes what Staghorn reads. "NumPy" is tests/io/numpy_formats.py, written from
# the documents of the formats; "MILC" are its own files among the reference data.
TABLE = {
    "links": {
        "milc": ("PyQUDA, NumPy", "PyQUDA, NumPy, MILC"),
        "nersc": ("PyQUDA, NumPy", "PyQUDA, NumPy"),
        "ildg": ("PyQUDA, NumPy", "NumPy, MILC"),
        "scidac": ("NumPy", "NumPy, MILC"),
        "scidac in parts": ("not written", "NumPy"),
        "hdf5": ("h5py", "h5py"),
        "npy": ("PyQUDA, NumPy", "PyQUDA, NumPy"),
        "openqcd": ("PyQUDA, NumPy", "PyQUDA, NumPy"),
        "kyu": ("PyQUDA, NumPy", "PyQUDA, NumPy"),
        "pyquda": ("h5py", "h5py"),
    },
    "colour vectors": {
        "hdf5": ("h5py", "h5py"),
        "scidac": ("NumPy", "NumPy, MILC"),
        "npy": ("NumPy", "NumPy"),
        "fnal": ("NumPy", "NumPy"),
    },
    "fat and long links": {
        "hdf5": ("h5py", "h5py"),
        "scidac": ("NumPy", "NumPy, MILC"),
    },
    "eigenvectors of -D^2": {
        "hdf5": ("h5py", "h5py"),
        "milc": ("NumPy", "NumPy"),
        "milc-packed": ("NumPy", "NumPy"),
    },
}


def table_text(kind: str) -> str:
    rows = "".join(f"| `{name}` | {' | '.join(cells)} |\n" for name, cells in TABLE[kind].items())
    return f"| {kind} | written files are read by | files that are read are written by |\n| --- | --- | --- |\n{rows}"


@pytest.mark.parametrize("kind", TABLE)
def test_the_table_of_the_documents_is_this_one(kind):
    page = (HERE.parents[1] / "docs" / "files.md").read_text()
    print(table_text(kind))
    assert table_text(kind) in page
    for format in READ_BY_PYQUDA:
        assert "PyQUDA" in TABLE["links"][format][0]
    for format in WRITTEN_BY_PYQUDA:
        assert "PyQUDA" in TABLE["links"][format][1]
    by_pyquda = [sum("PyQUDA" in cells[k] for cells in TABLE["links"].values()) for k in (0, 1)]
    assert by_pyquda == [len(READ_BY_PYQUDA), len(WRITTEN_BY_PYQUDA)]


def ask_pyquda(jobs):
    """Answers "done" for each job that PyQUDA did, its complaint for others."""
    done = subprocess.run([sys.executable, HERE / "pyquda_process.py"], input=json.dumps(jobs), capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(answers) == len(jobs), done.stderr
    return answers


@pytest.fixture(scope="module")
def pyquda_links():
    return formats.random_su3_links(EXTENTS, seed=17)


@pytest.fixture(scope="module")
def exchanged(pyquda_links, staghorn, tmp_path_factory):
    """Files by Staghorn that PyQUDA has read, and files by PyQUDA, in one process: (do, format) -> path."""
    folder = tmp_path_factory.mktemp("pyquda")
    source = formats.h5py_file(folder / "links.h5", "links", pyquda_links)
    paths = {}
    for format in READ_BY_PYQUDA:
        paths["read", format] = folder / f"ours.{format}"
        options = ["--precision", "fp32"] if format == "milc" else []
        staghorn("convert", source, paths["read", format], *options, check=True)
    for format in WRITTEN_BY_PYQUDA:
        paths["write", format] = folder / f"theirs.{format}"
        np.save(f"{paths['write', format]}.links.npy", np.ascontiguousarray(np.moveaxis(pyquda_links, 4, 0)))
    jobs = [{"do": do, "format": format, "file": str(path), "lattice": EXTENTS} for (do, format), path in paths.items()]
    return paths, dict(zip(paths, ask_pyquda(jobs)))


@needs_pyquda
@pytest.mark.parametrize("format", READ_BY_PYQUDA)
def test_pyquda_reads_what_staghorn_wrote(format, pyquda_links, exchanged):
    """PyQUDA compares checksums and plaquettes. Of fp32 it rebuilds the third row."""
    paths, answers = exchanged
    assert answers["read", format] == "done"
    found = np.moveaxis(np.load(f"{paths['read', format]}.links.npy"), 0, 4)
    if format == "milc":
        assert abs(found - pyquda_links).max() < 3e-7
    else:
        assert np.array_equal(found, pyquda_links)


@needs_pyquda
@pytest.mark.parametrize("format", WRITTEN_BY_PYQUDA)
def test_staghorn_reads_what_pyquda_wrote(format, pyquda_links, exchanged, read_links):
    paths, answers = exchanged
    assert answers["write", format] == "done"
    expected = pyquda_links.astype(np.complex64).astype(complex) if format == "milc" else pyquda_links
    found = read_links(paths["write", format], options=ALONE.get(format, []))
    assert np.array_equal(found[..., :2, :], expected[..., :2, :])
    assert abs(found - expected).max() < 1e-15  # NERSC's files by PyQUDA may have two rows


@needs_pyquda
def test_a_file_that_pyquda_must_refuse_is_refused_by_it(pyquda_links, tmp_path):
    """What makes the two tests above able to fail: PyQUDA's checks run here."""
    path = tmp_path / "links.milc"
    content = bytearray(formats.milc_file(pyquda_links))
    content[5000] ^= 1
    path.write_bytes(content)
    assert "AssertionError" in ask_pyquda([{"do": "read", "format": "milc", "file": str(path), "lattice": EXTENTS}])[0]
