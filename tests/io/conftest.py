"""Links with four different extents, and one file of them in every form that the program must read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy_formats as formats  # noqa: E402


@pytest.fixture(scope="session")
def links() -> np.ndarray:
    """Random SU(3) links [T, Z, Y, X, mu, row, column] in fp64."""
    return formats.random_su3_links(formats.EXTENTS, seed=11)


@pytest.fixture(scope="session")
def inspect(staghorn):
    """inspect(path, ranks=1) -> what `staghorn inspect --json` says of an intact file."""

    def run(path, ranks=1, options=()) -> dict:
        return json.loads(staghorn("inspect", path, "--json", *options, ranks=ranks, check=True).stdout)

    return run


@pytest.fixture(scope="session")
def read_links(staghorn, tmp_path_factory):
    """read_links(path, ranks=1) -> the links that the program reads from a file, by way of its HDF5 in fp64."""
    folder = tmp_path_factory.mktemp("links")

    def run(path, ranks=1, options=()) -> np.ndarray:
        output = folder / "links.h5"
        staghorn("convert", path, output, "--format", "hdf5", "--precision", "fp64", "--force", *options, ranks=ranks,
                 check=True)
        with h5py.File(output) as file:
            return file["links"][...]

    return run


@pytest.fixture
def rejected(staghorn, expect_error):
    """rejected(path, *words, ranks=1): reading `path` fails with one message that names it and says all `words`."""

    def run(path, *words, ranks=1) -> str:
        message = expect_error(staghorn("inspect", path, ranks=ranks), 1, path, *words)
        assert message.count(str(path)) == 1
        return message

    return run
