"""Sources, recovered from solutions by the NumPy operator: b = M x, and what is refused."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from solve_files import solution_bytes, solve
from staghorn import reference

EXTENTS = (4, 6, 8, 10)
MASS = 1.0
X, Y, Z, T = reference.coordinates(EXTENTS)
DEFINITIONS = {
    "point:3,4,5,6": (X == 3) & (Y == 4) & (Z == 5) & (T == 6),
    "corner-wall:3": (X % 2 == 0) & (Y % 2 == 0) & (Z % 2 == 0) & (T == 3),
    "even-wall:3": ((X + Y + Z + T) % 2 == 0) & (T == 3),
    "wall:9": T == 9,
}


@pytest.fixture(scope="module")
def operator(small_links):
    return reference.StaggeredOperator(small_links)


@pytest.fixture(scope="module")
def small_links(small_gauge):
    with h5py.File(small_gauge) as file:
        return file["links"][...].astype(complex)


def recovered_sources(staghorn, folder, gauge, operator, source, *options, **run):
    """The report and b = M x of every right-hand side."""
    report, solutions = solve(staghorn, folder, gauge, "--mass", MASS, "--source", source, "--tolerance", 1e-12,
                              *options, **run)
    return report, np.array([operator.m(MASS, x) for x in solutions])


@pytest.mark.parametrize("source", DEFINITIONS)
def test_source_is_one_where_it_is_defined(staghorn, small_gauge, operator, tmp_path, source):
    report, found = recovered_sources(staghorn, tmp_path, small_gauge, operator, source, "--color", "all")
    expected = DEFINITIONS[source][..., None, None] * np.eye(3)  # one colour a source
    assert np.abs(found - np.moveaxis(expected, -1, 0)).max() < 1e-10
    assert [r["color"] for r in report["rhs"]] == [0, 1, 2]


@pytest.mark.parametrize("source", ["z2-wall:9,5", "u1-wall:9,5", "z2-corner-wall:3,5", "u1-corner-wall:3,5"])
def test_random_wall_has_numbers_of_modulus_one_where_the_wall_has_ones(staghorn, small_gauge, operator, tmp_path, source):
    report, found = recovered_sources(staghorn, tmp_path, small_gauge, operator, source)
    kind, _, slice_and_seed = source.partition(":")
    where = DEFINITIONS[f"{kind[3:]}:{slice_and_seed.split(',')[0]}"]
    expected = np.moveaxis(where[..., None, None] * np.eye(3), -1, 0)
    assert np.abs(np.abs(found) - expected).max() < 1e-10
    assert report["source"] == source and [r["color"] for r in report["rhs"]] == [0, 1, 2] and len(report["pion_correlator"]) == 10
    numbers = np.array([found[c][where][:, c] for c in range(3)])
    error = 5 / np.sqrt(numbers.size)
    assert abs(numbers.mean()) < error and max(abs((numbers[a] * numbers[b].conj()).mean()) for a, b in ((0, 1), (0, 2), (1, 2))) < error * 3**0.5
    if kind.startswith("z2"):
        assert np.abs(numbers.imag).max() < 1e-10 and len(np.unique(numbers.real.round(6))) == 2
    else:  # uniform: no moment of the phase is left
        assert all(abs((numbers**n).mean()) < error for n in (1, 2, 3, 4)) and len(np.unique(numbers.round(6))) == numbers.size
    _, others = recovered_sources(staghorn, tmp_path, small_gauge, operator, source.replace(",5", ",6"))
    assert np.abs(others - found).max() > 0.1


def test_one_color_is_one_right_hand_side(staghorn, small_gauge, operator, tmp_path):
    report, found = recovered_sources(staghorn, tmp_path, small_gauge, operator, "wall:2", "--color", 1)
    assert np.abs(found - [(T == 2)[..., None] * np.array([0, 1, 0])]).max() < 1e-10
    assert [r["color"] for r in report["rhs"]] == [1]
    assert report["pion_correlator"] == []


def test_z2_noise_is_a_sign_everywhere(staghorn, small_gauge, operator, tmp_path):
    _, found = recovered_sources(staghorn, tmp_path, small_gauge, operator, "z2:5", "--noise-vectors", 2)
    assert np.abs(np.abs(found.real) - 1).max() < 1e-10 and np.abs(found.imag).max() < 1e-10
    # Unbiased, and vectors, sites and colours independent: five standard errors.
    signs = np.sign(found.real)
    error = 5 / np.sqrt(signs[0].size)
    assert abs(signs[0].mean()) < error and abs((signs[0] * signs[1]).mean()) < error
    assert abs((signs[0][..., 0] * signs[0][..., 1]).mean()) < error * np.sqrt(3)
    assert abs((signs[0] * np.roll(signs[0], 1, axis=3)).mean()) < error


def test_gaussian_noise_is_complex_with_unit_variance(staghorn, small_gauge, operator, tmp_path):
    _, (found,) = recovered_sources(staghorn, tmp_path, small_gauge, operator, "gaussian:5")
    error = 5 / np.sqrt(found.size)
    assert (np.abs(found) ** 2).mean() == pytest.approx(1, abs=error)
    assert abs(found.mean()) < error and abs((found**2).mean()) < 1.5 * error
    assert (np.abs(found) ** 4).mean() == pytest.approx(2, abs=4.5 * error)


@pytest.mark.mpi
@pytest.mark.parametrize("source", ["z2:5", "gaussian:5", "corner-wall:1"])
def test_source_does_not_depend_on_the_process_grid(staghorn, small_gauge, tmp_path, source):
    stored = []
    for ranks, grid in ((1, "1,1,1,1"), (2, "1,1,2,1"), (4, "2,1,2,1"), (12, "2,3,2,1")):
        solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--source", source, "--grid", grid, ranks=ranks)
        stored.append(solution_bytes(tmp_path / "solve.h5"))
    assert stored.count(stored[0]) == len(stored)


@pytest.mark.parametrize("source, named", [
    ("point:4,0,0,0", "4x6x8x10"),
    ("wall:10", "4x6x8x10"),
    ("even-wall:-1", "4x6x8x10"),
    ("point:1,2,3", "four coordinates"),
    ("point:1,2,3,4,5", "four coordinates"),
    ("wall:two", "time slice"),
    ("z2:-1", "seed"),
    ("z2", "z2:SEED"),
    ("sphere:3", "corner-wall"),
])
def test_bad_source_is_refused_by_name(staghorn, small_gauge, tmp_path, source, named):
    output = tmp_path / "x.h5"
    result = staghorn("solve", "--gauge", small_gauge, "--mass", MASS, "--source", source, "--output", output)
    assert result.returncode in (1, 2)
    assert named in result.stderr and not output.exists()
