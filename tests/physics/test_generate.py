"""Generated configurations: starts, published plaquettes, and the same bits on any process grid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest


def generate(staghorn, path: Path, lattice, *options, **run):
    """Runs `staghorn generate` and returns the finished process."""
    return staghorn("generate", "--lattice", *lattice, *options, "--format", "hdf5", "--precision", "fp64", "--output",
                    path, check=True, **run)


def inspect(staghorn, path: Path) -> dict:
    return json.loads(staghorn("inspect", path, "--json", check=True).stdout)


def links_of(path: Path) -> np.ndarray:
    """Dataset /links as it is stored."""
    with h5py.File(path) as file:
        return file["links"][...]


def measured_plaquettes(output: str) -> list[float]:
    """The mean plaquettes that `--measure-every` prints, in order."""
    return [float(word) for word in re.findall(r"sweep +\d+ +plaquette (\S+)", output)]


def chain(staghorn, folder: Path, lattice, beta, sweeps, start) -> np.ndarray:
    """The plaquette before each sweep and after the last."""
    run = generate(staghorn, folder / "chain.h5", lattice, "--beta", beta, "--sweeps", sweeps, "--seed", 3, "--start",
                   start, "--measure-every", 1)
    plaquettes = np.array(measured_plaquettes(run.stdout))
    assert len(plaquettes) >= sweeps
    return plaquettes


def test_cold_start_is_the_unit_matrix(staghorn, tmp_path):
    path = tmp_path / "cold.h5"
    generate(staghorn, path, (4, 6, 8, 10), "--start", "cold")
    found = inspect(staghorn, path)
    assert [found[key] for key in ("plaquette", "plaquette_space", "plaquette_time")] == [1, 1, 1]
    assert found["link_trace"] == [1, 0]


def test_hot_start_is_random_in_su3(staghorn, tmp_path):
    path = tmp_path / "hot.h5"
    lattice = (4, 6, 8, 10)
    generate(staghorn, path, lattice, "--start", "hot", "--seed", 3)
    found = inspect(staghorn, path)
    # In the Haar measure <|tr U|^2> = 1, so Re tr U / 3 and Im tr U / 3 have variance 1/18 each.
    sites = np.prod(lattice)
    assert abs(found["plaquette"]) < 5 / np.sqrt(18 * 6 * sites)
    assert max(map(abs, found["link_trace"])) < 5 / np.sqrt(18 * 4 * sites)
    assert found["max_unitarity_deviation"] < 1e-14


def test_seed_decides(staghorn, tmp_path):
    links = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate(staghorn, tmp_path / f"{name}.h5", (4, 4, 4, 4), "--beta", 5.7, "--sweeps", 1, "--seed", seed)
        links.append(links_of(tmp_path / f"{name}.h5"))
    assert links[0].tobytes() == links[1].tobytes()
    # After a sweep no link of another seed is the same.
    assert (links[0] != links[2]).any(axis=(-1, -2)).all()


@pytest.fixture(scope="module")
def one_rank_links(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("generate") / "one.h5"
    generate(staghorn, path, (8, 4, 8, 8), "--beta", 5.7, "--sweeps", 3, "--seed", 9, threads=1)
    return links_of(path).tobytes()


@pytest.mark.mpi
@pytest.mark.parametrize("ranks, threads, grid", [(1, 2, None), (2, 1, None), (2, 1, "2,1,1,1"), (4, 1, "1,2,2,1"),
                                                  (4, 2, "4,1,1,1"), (8, 1, "2,2,2,1"), (8, 1, "1,1,2,4"),
                                                  (16, 1, "2,2,2,2")])
def test_links_have_the_bits_of_one_rank(staghorn, one_rank_links, tmp_path, ranks, threads, grid):
    path = tmp_path / "links.h5"
    cut = ["--grid", grid] if grid else []
    generate(staghorn, path, (8, 4, 8, 8), "--beta", 5.7, "--sweeps", 3, "--seed", 9, *cut, ranks=ranks,
             threads=threads)
    assert links_of(path).tobytes() == one_rank_links


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_plaquette_follows_the_strong_coupling_expansion(staghorn, tmp_path, beta):
    plaquettes = chain(staghorn, tmp_path, (4, 6, 6, 6), beta, 30, "hot")[3:]
    # <P> = beta/18 + beta^2/216 - ...; a configuration scatters like 6 V numbers of variance 1/18.
    error = 1 / np.sqrt(18 * 6 * 864 * len(plaquettes))
    assert plaquettes.mean() == pytest.approx(beta / 18 + beta**2 / 216, abs=5 * error + beta**4 / 1000)


@pytest.mark.slow
@pytest.mark.parametrize("start, beta, published, tolerance", [("hot", 5.7, 0.5491, 0.005),
                                                              ("cold", 6.0, 0.5937, 0.002)])
def test_plaquette_agrees_with_the_published_value(staghorn, tmp_path, start, beta, published, tolerance):
    """Published: G. P. Lepage and P. B. Mackenzie, Phys. Rev. D 48 (1993) 2250, -ln W = 0.5995 and 0.5214."""
    plaquettes = chain(staghorn, tmp_path, (8, 8, 8, 8), beta, 60, start)
    assert plaquettes[30:].mean() == pytest.approx(published, abs=tolerance)
