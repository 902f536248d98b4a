"""Chains from Python are those of the program: the same links, the same files."""

from __future__ import annotations

import re

import numpy as np
import pytest

package = pytest.importorskip("staghorn")
pytest.importorskip("staghorn._native", reason="the Python package is not built")

CHAIN = {"beta": 5.7, "overrelaxation": 1, "seed": 3, "device": "cpu"}
OPTIONS = ["--beta", 5.7, "--overrelaxation", 1, "--seed", 3, "--device", "cpu"]


def test_chain_of_python_has_the_files_and_the_bits_of_the_program(staghorn, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795199983")
    (tmp_path / "program").mkdir()
    staghorn("generate", "--lattice", "4x4x4x6", *OPTIONS, "--sweeps", 5, "--save-every", 2, "--save-as", "q_{n:02}.h5",
             cwd=tmp_path / "program", check=True)
    links = package.generate((4, 4, 4, 6), sweeps=5, save_every=2, save_as=tmp_path / "q_{n:02}.h5", **CHAIN)
    assert links.shape == (6, 4, 4, 4, 4, 3, 3)
    for name in ("q_02.h5", "q_04.h5"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "program" / name).read_bytes()
    # The chain goes on from a file, and the array is what a file holds.
    again = package.generate(start=tmp_path / "q_04.h5", sweeps=1, output=tmp_path / "end.nersc", **CHAIN)
    assert np.array_equal(again, links) and np.array_equal(package.read_gauge(tmp_path / "end.nersc")[0], links)


@pytest.mark.parametrize("arguments, words", [
    ({}, "lattice: expected extents, unless `start` names a file"),
    ({"lattice": (4, 4, 4, 4), "sweeps": -1}, "sweeps: expected a number of at least 0, found -1"),
    ({"lattice": (4, 4, 4, 4), "beta": -1}, "beta: expected a number of at least 0"),
    ({"lattice": (4, 4, 4, 4), "sweeps": 5}, "beta: expected a number where `sweeps` is not 0, found none"),
    ({"lattice": (4, 4, 4, 4), "save_every": 2}, "save_every: expected `save_as` beside it"),
    ({"lattice": (4, 4, 4, 4), "save_every": 2, "save_as": "q.h5"}, "save_as: expected a name with {n}"),
    ({"lattice": (4, 4, 4, 4), "output": "x.json"}, "x.json"),
    ({"start": "no-file"}, "no-file: cannot be read"),
])
def test_what_makes_no_chain_is_refused(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(package.Error, match=re.escape(words)):
        package.generate(**arguments)
    assert not list(tmp_path.iterdir())
