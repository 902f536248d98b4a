"""What MILC asks of vectors, against NumPy: shifts, spin-taste operators, contractions, smearing, multigrid, eigenpairs; gauge fixing."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import meson_reference as mesons
from staghorn.reference import StaggeredOperator, shifted

SHAPE = (8, 6, 4, 4)  # t, z, y, x
VOLUME = int(np.prod(SHAPE))
SHIFTS = [(0, 1), (3, 1), (2, 2), (3, 2), (3, 3)]  # as in milc_vectors.c
OPERATORS = [(15, 15), (0, 0), (1, 1), (15, 14), (15, 13), (15, 11), (15, 7), (0, 3), (0, 6), (0, 5), (1, 8), (2, 8), (4, 8), (8, 15), (0, 13),
             (0, 11), (6, 1), (4, 11)]
MOMENTA = [((0, 0, 0), "E E E"), ((1, 0, 0), "O E EO"), ((1, 2, 0), "EO E E"), ((0, -1, 2), "E EO O")]
PAIRS, PAIRS_OF_BOTH, MASS = 3, 5, 0.3
ORIGIN, SLICE, STEPS, WIDTH = (1, 2, 0, 5), 3, 4, 1.5


def random_su3(rng, shape):
    u, _ = np.linalg.qr(rng.normal(size=(*shape, 3, 3)) + 1j * rng.normal(size=(*shape, 3, 3)))
    return u / (np.linalg.det(u) ** (1 / 3))[..., None, None]


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """(file, links with MILC's phases and the sign of t in them, links near 1, two vectors)"""
    rng = np.random.default_rng(17)
    thin = random_su3(rng, (*SHAPE, 4))
    links = StaggeredOperator(thin, boundary=(0, 0, 0, 1), phases="milc").links
    near_one = random_su3(rng, SHAPE)  # a random gauge transformation of 1
    plain = np.stack([near_one @ shifted(near_one, mu, +1).conj().swapaxes(-1, -2) for mu in range(4)], axis=-3)
    vectors = rng.normal(size=(2, *SHAPE, 3)) + 1j * rng.normal(size=(2, *SHAPE, 3))
    path = tmp_path_factory.mktemp("vectors") / "in"
    path.write_bytes(b"".join(np.ascontiguousarray(array).tobytes() for array in (links, plain, vectors)))
    return path, links, plain, vectors


def made(run_built, problem, folder, precision, *grid, ranks=1):
    """(shifted, operated, smeared, fixed links, correlators, solutions, eigenvectors, eigenvalues)"""
    result = run_built("milc_vectors", problem[0], folder / "out", precision, *grid, ranks=ranks, threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
    numbers = np.fromfile(folder / "out").view(complex)
    n = len(SHIFTS) + len(OPERATORS) + 3 + 2 + PAIRS + PAIRS_OF_BOTH
    vectors = numbers[: n * 3 * VOLUME].reshape(n, *SHAPE, 3)
    fixed = numbers[n * 3 * VOLUME : n * 3 * VOLUME + 36 * VOLUME].reshape(*SHAPE, 4, 3, 3)
    first = len(SHIFTS) + len(OPERATORS)
    values = numbers[-PAIRS - PAIRS_OF_BOTH :]
    correlators = numbers[-len(MOMENTA) * SHAPE[0] - len(values) : -len(values)].reshape(-1, SHAPE[0])
    return (vectors[: len(SHIFTS)], vectors[len(SHIFTS) : first], vectors[first : first + 3], fixed, correlators,
            vectors[first + 3 : first + 5], vectors[first + 5 :], values)


@pytest.fixture(scope="module")
def of_one_process(run_built, problem, tmp_path_factory):
    return made(run_built, problem, tmp_path_factory.mktemp("one"), 2)


def step(links, v, mu, forward):
    u = links[..., mu, :, :]
    if forward:
        return np.einsum("...ij,...j->...i", u, shifted(v, mu, +1))
    return shifted(np.einsum("...ji,...j->...i", u.conj(), v), mu, -1)


def close(found, expected):
    return np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()


def test_shifts_are_one_step_or_the_mean_of_two(problem, of_one_process):
    _, links, _, (a, _) = problem
    for (mu, symmetry), found in zip(SHIFTS, of_one_process[0]):
        steps = [step(links, a, mu, forward) for forward in (True, False)]
        assert close(found, {1: steps[0], 2: steps[1], 3: (steps[0] + steps[1]) / 2}[symmetry]), (mu, symmetry)


def test_operators_are_those_of_mesons(problem, of_one_process):
    _, links, _, (a, _) = problem
    operators = mesons.SpinTasteOperators.__new__(mesons.SpinTasteOperators)
    plain = mesons.SpinTasteOperators(np.broadcast_to(np.eye(3), links.shape), (0, 0, 0, 0))
    operators.links, operators.eps, operators.zeta = links, plain.eps, plain.zeta  # phases are in the links already
    for (spin, taste), found in zip(OPERATORS, of_one_process[1]):
        v = a
        for mu in range(4):
            if spin >> mu & 1:
                v = operators.zeta[mu] * v
        assert close(found, operators.eps * operators.shifts(spin ^ taste, v)), (spin, taste)


def test_smearing_is_over_two_links(problem, of_one_process):
    _, links, _, (_, b) = problem
    for found, dimensions, only in zip(of_one_process[2], (3, 3, 4), (None, SLICE, None)):
        v, weight = b, WIDTH**2 / (16 * STEPS)
        for _ in range(STEPS):
            hops = sum(step(links, step(links, v, mu, forward), mu, forward) for mu in range(dimensions) for forward in (True, False))
            v = v + weight * (hops - 2 * dimensions * v)
        if only is not None:
            v = np.where((np.arange(SHAPE[0]) == only)[:, None, None, None, None], v, b)
        assert close(found, v), (dimensions, only)


def test_contractions_add_what_they_find(problem, of_one_process):
    _, _, _, (a, b) = problem
    for (momentum, symmetry), found in zip(MOMENTA, of_one_process[4]):
        weight = mesons.momentum_weight(SHAPE[::-1], momentum, symmetry, ORIGIN)
        assert close(found, 2 * mesons.meson([a], [b], weight)), momentum  # two calls


def hop(links, v):
    return sum(step(links, v, mu, True) - step(links, v, mu, False) for mu in range(4))


def test_multigrid_solves_the_whole_system(problem, of_one_process):
    _, links, _, sources = problem
    for b, x in zip(sources, of_one_process[5]):
        assert np.linalg.norm(b - 2 * MASS * x - hop(links, x)) < 1.01e-10 * np.linalg.norm(b)


def test_eigenpairs_are_the_lowest(problem, of_one_process):
    """Against all eigenvalues of -D^2 on even sites, from a dense matrix."""
    _, links, _, _ = problem
    sites = np.arange(VOLUME).reshape(SHAPE)
    d = np.zeros((VOLUME, 3, VOLUME, 3), complex)
    for mu in range(4):
        there = shifted(sites, mu, +1).ravel()
        u = links[..., mu, :, :].reshape(VOLUME, 3, 3)
        np.add.at(d.transpose(0, 2, 1, 3), (sites.ravel(), there), u)
        np.add.at(d.transpose(0, 2, 1, 3), (there, sites.ravel()), -u.conj().swapaxes(-1, -2))
    odd = np.indices(SHAPE).sum(axis=0).ravel() % 2 == 1
    to_odd = d[odd][:, :, ~odd].reshape(3 * VOLUME // 2, -1)
    expected = np.linalg.eigvalsh(to_odd.conj().T @ to_odd)
    vectors, values = of_one_process[6], of_one_process[7]
    assert np.abs(values[:PAIRS] - expected[:PAIRS]).max() < 1e-9
    assert np.abs(values[PAIRS:] - 4 * MASS**2 - np.repeat(expected, 2)[:PAIRS_OF_BOTH]).max() < 1e-9
    flat = vectors.reshape(len(vectors), VOLUME, 3)
    for number, (v, value) in enumerate(zip(vectors, values)):
        value = value if number < PAIRS else value - 4 * MASS**2
        assert np.linalg.norm(-hop(links, hop(links, v)) - value * v) < 1e-9
        assert not flat[number][odd if number < PAIRS or (number - PAIRS) % 2 == 0 else ~odd].any()
    for some in (flat[:PAIRS], flat[PAIRS:]):
        gram = np.einsum("iak,jak->ij", some.conj(), some)
        assert np.abs(gram - np.eye(len(some))).max() < 1e-9


@pytest.mark.parametrize("fault, line", [("odd", "matpc_type: expected QUDA_MATPC_EVEN_EVEN, found 1"), ("zero", "links as given: U_x at (0, 0, 0, 0): ")])
def test_searches_that_cannot_be_made_are_named(run_built, fault, line):
    result = run_built("milc_vectors", fault)
    assert result.returncode == 1 and result.stderr.startswith(f"staghorn: eigensolveQuda: {line}"), result.stderr


def functional(links):
    return np.trace(links[..., :3, :, :], axis1=-2, axis2=-1).real.mean() / 3


def divergence2(links):
    """The mean of tr (sum over x, y, z of A_mu(x) - A_mu(x-mu))^2 / 3."""
    a = (links - links.conj().swapaxes(-1, -2)) / 2j
    a = a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    delta = sum(a[..., mu, :, :] - shifted(a[..., mu, :, :], mu, -1) for mu in range(3))
    return np.einsum("...ij,...ji->...", delta, delta).real.mean() / 3


def test_links_are_fixed_to_coulomb_gauge(problem, of_one_process):
    """Links that are a gauge transformation of 1 stay one: their plaquettes are 1."""
    _, _, plain, _ = problem
    fixed = of_one_process[3]
    assert functional(plain) < 0.1 and functional(fixed) > 0.9, functional(fixed)
    assert divergence2(plain) > 1 and divergence2(fixed) < 1e-5, divergence2(fixed)
    for mu in range(4):
        for nu in range(mu):
            u, v = fixed[..., mu, :, :], fixed[..., nu, :, :]
            around = shifted(v, mu, +1) @ (v @ shifted(u, nu, +1)).conj().swapaxes(-1, -2)
            assert np.abs(u @ around - np.eye(3)).max() < 1e-12


@pytest.mark.mpi
@pytest.mark.parametrize("grid", [(1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 1, 1)])
def test_ranks_give_the_same_bits(run_built, problem, of_one_process, tmp_path, grid):
    for found, expected in zip(made(run_built, problem, tmp_path, 2, *grid, ranks=int(np.prod(grid))), of_one_process):
        assert np.array_equal(found, expected)


def test_fields_of_fp32(run_built, problem, of_one_process, tmp_path):
    for number, (found, expected) in enumerate(zip(made(run_built, problem, tmp_path, 1), of_one_process)):
        if number not in (3, 6):  # rounding leads to another copy of the gauge, and to other phases of eigenvectors
            assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()
