"""Files from Python: every format the program writes, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
import staghorn
from program_under_test import ROOT

SHAPE = (10, 8, 6, 4)
FORMATS = [("milc", "fp32"), ("nersc", "fp64"), ("ildg", "fp64"), ("scidac", "fp64"), ("hdf5", "fp64"), ("npy", "fp64"),
           ("openqcd", "fp64"), ("kyu", "fp64")]


@pytest.fixture(scope="module")
def links():
    generator = np.random.default_rng(4)
    q, r = np.linalg.qr(generator.normal(size=(*SHAPE, 4, 3, 3)) + 1j * generator.normal(size=(*SHAPE, 4, 3, 3)))
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


@pytest.mark.parametrize("format, precision", FORMATS)
def test_links_written_are_those_read(format, precision, links, tmp_path):
    path = tmp_path / f"links.{format}"
    staghorn.write_gauge(path, links)
    alone = format in ("npy", "kyu")
    found, info = staghorn.read_gauge(path, verify=not alone, kyu=(4, 6, 8, 10) if format == "kyu" else None)
    assert (info["format"], info["precision"], info["lattice"]) == (format, precision, [4, 6, 8, 10])
    assert np.array_equal(found, links.astype(np.complex64) if precision == "fp32" else links)
    if format != "kyu":
        session = staghorn.Session(path, no_verify=alone)
        assert np.array_equal(session.links, found) and session.gauge["verified"] != alone


@pytest.mark.parametrize("name, format", [("b.h5", "hdf5"), ("b.scidac", "scidac"), ("b.npy", "npy")])
def test_vectors_written_are_those_read(name, format, tmp_path):
    vectors = np.random.default_rng(5).normal(size=(2, *SHAPE, 3)) * (1 - 2j)
    staghorn.write_vectors(tmp_path / name, vectors)
    found, info = staghorn.read_vectors(tmp_path / name, verify=format != "npy")
    assert info["format"] == format and info["lattice"] == [4, 6, 8, 10] and np.array_equal(found, vectors)
    staghorn.write_vectors(tmp_path / "one.npy", vectors[0])
    assert np.array_equal(np.load(tmp_path / "one.npy"), vectors[:1])


def test_solution_of_a_session_is_read(links, tmp_path):
    session = staghorn.Session(links)
    solution, _ = session.solve(1.0, "point:0,0,0,0", color=0)
    staghorn.write_vectors(tmp_path / "x.h5", solution, name="solution", precision="fp32")
    found, info = staghorn.read_vectors(tmp_path / "x.h5")
    assert info["dataset"] == "solution" and np.array_equal(found.reshape(solution.shape), solution.astype(np.complex64))


def test_what_is_refused_is_told(links, tmp_path):
    path = tmp_path / "links.npy"
    staghorn.write_gauge(path, links)
    for call, words in [
        (lambda: staghorn.read_gauge(path), "no plaquette.*`verify=False`"),
        (lambda: staghorn.write_gauge(path, links), "force"),
        (lambda: staghorn.write_gauge(tmp_path / "x.openqcd", links, precision="fp32"), "fp64.*found fp32"),
        (lambda: staghorn.write_gauge(tmp_path / "x", links, format="tar"), "milc, nersc.* or pyquda"),
        (lambda: staghorn.write_gauge(tmp_path / "x.json", links), "json"),
        (lambda: staghorn.write_gauge(tmp_path / "x", links[0]), "links: expected shape"),
        (lambda: staghorn.read_vectors(path), "colour vectors in HDF5, SciDAC"),
        (lambda: staghorn.write_vectors(tmp_path / "b", np.zeros((0, *SHAPE, 3))), "at least one"),
        (lambda: staghorn.write_vectors(tmp_path / "b.milc", np.zeros((*SHAPE, 3))), "a format of links"),
        (lambda: staghorn.read_gauge(path, verify=False, kyu=(4, 6, 8, 10)), "bytes"),
        (lambda: staghorn.read_gauge(tmp_path / "nothing"), "nothing"),
    ]:
        with pytest.raises(staghorn.Error, match=words):
            call()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["links.npy"]


def test_code_of_the_page_of_files_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block, = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "files.md").read_text(), re.DOTALL)
    names: dict = {}
    exec(block, names)
    assert np.array_equal(names["vectors"][0], names["links"][..., 0, :, 0])


def test_smeared_links_are_those_that_a_session_makes_and_solve_alike(tmp_path):
    links = staghorn.generate((4, 4, 4, 6), start="hot", seed=3)
    fat, naik = staghorn.smear(links, "hisq", naik_epsilon=0.1)
    session = staghorn.Session(links, action="hisq", naik_epsilon=0.1, sloppy="none")
    assert np.array_equal(fat, session.links) and fat.shape == naik.shape == links.shape
    x, _ = session.solve(0.5, "point:0,0,0,0")
    given = staghorn.Context((4, 4, 4, 6), device="cpu").gauge(fat, naik=naik)
    again, report = given.solve(0.5, "point:0,0,0,0", sloppy="none")
    assert report.certified and np.abs(again - x).max() < 1e-10 * np.abs(x).max() * 100
    staghorn.write_gauge(tmp_path / "q.h5", links)
    assert all(np.array_equal(*pair) for pair in zip(staghorn.smear(tmp_path / "q.h5", "asqtad", u0=0.9), staghorn.smear(links, "asqtad", u0=0.9)))
    with pytest.raises(staghorn.Error, match="action: expected asqtad or hisq, found 'naive'"):
        staghorn.smear(links, "naive")


def test_generate_tells_its_sweeps_and_the_example_is_a_configuration():
    told: list[tuple[int, int]] = []
    staghorn.generate((2, 2, 2, 2), beta=5.7, sweeps=3, progress=lambda *at: told.append(at))
    assert told == [(0, 3), (1, 3), (2, 3)]
    with pytest.raises(ZeroDivisionError):
        staghorn.generate((2, 2, 2, 2), beta=5.7, sweeps=3, progress=lambda done, of: 1 // (done - 1) if done else 1)
    _, info = staghorn.read_gauge(staghorn.example_gauge())
    assert tuple(info["lattice"]) == (8, 8, 8, 16) and info["format"] == "nersc"
