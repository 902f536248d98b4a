"""Fat and long links of hosts: every order and convention, what is refused, and the bits of the program on files of the same links."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from solve_files import read_solution, write_source

MASS = 0.1
NONE, MILC = 0, 2  # of staghorn_phases


@pytest.mark.mpi
@pytest.mark.parametrize("grid", ["1 1 1 1", "1 1 1 2"])
def test_every_order_and_convention_has_the_bits_of_the_plain_host(run_built, grid):
    cut = grid.split()
    result = run_built("fake_hosts", "improved", *cut, ranks=int(np.prod([int(n) for n in cut])), threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


def test_pairs_are_checked_and_updated_in_place(run_built):
    result = run_built("improved_hosts", threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


@pytest.fixture(scope="module")
def problem(rough_gauge, tmp_path_factory):
    """(folder, extents, source file, source as raw doubles)"""
    folder = tmp_path_factory.mktemp("improved")
    with h5py.File(rough_gauge) as file:
        links = file["links"][...].astype(complex)
    links.tofile(folder / "thin")
    rng = np.random.default_rng(3)
    source = rng.normal(size=(*links.shape[:4], 3)) + 1j * rng.normal(size=(*links.shape[:4], 3))
    source.tofile(folder / "source")
    return folder, links.shape[3::-1], write_source(folder / "source.h5", source)


def host_solution(run_built, folder, *arguments, extents):
    result = run_built("improved_hosts", *arguments, threads=1)
    assert result.stdout.startswith("status 0 "), result.stdout + result.stderr
    return np.fromfile(folder / "x").view(complex).reshape(*extents[::-1], 3)


@pytest.mark.parametrize("phases", ["none", "milc"])
def test_stored_links_have_the_bits_of_the_program(staghorn, run_built, rough_gauge, problem, tmp_path, phases):
    """The host states the coefficient, as the file does. MILC's phases: x -> S x, b -> S b."""
    folder, extents, source = problem
    fat, naik = tmp_path / "fat.h5", tmp_path / "long.h5"
    staghorn("smear", "--gauge", rough_gauge, "--action", "hisq", "--naik-epsilon", -0.1, "--fat", fat, "--long", naik,
             "--phases-in-links", phases, check=True)
    for path in (fat, naik):
        with h5py.File(path) as file:
            file["links"][...].astype(complex).tofile(path.with_suffix(""))
    staghorn("solve", "--fat", fat, "--long", naik, "--source", f"file:{source}", "--phases", "milc" if phases == "milc" else "cps", "--mass", MASS,
             "--output", tmp_path / "x.h5", check=True)
    x = host_solution(run_built, folder, tmp_path / "fat", tmp_path / "long", folder / "source", folder / "x", *extents, MASS,
                      MILC if phases == "milc" else NONE, -0.9 / 24, extents=extents)
    assert np.array_equal(x, read_solution(tmp_path / "x.h5")[0])


@pytest.mark.parametrize("number, action", [(1, "asqtad"), (2, "hisq")])
def test_actions_have_the_bits_of_the_program(staghorn, run_built, rough_gauge, problem, tmp_path, number, action):
    folder, extents, source = problem
    staghorn("solve", "--gauge", rough_gauge, "--action", action, "--source", f"file:{source}", "--mass", MASS, "--output", tmp_path / "x.h5",
             check=True)
    x = host_solution(run_built, folder, "action", number, folder / "thin", folder / "source", folder / "x", *extents, MASS,
                      extents=extents)
    assert np.array_equal(x, read_solution(tmp_path / "x.h5")[0])
