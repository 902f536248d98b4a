"""Codes with fields of their own (fake_hosts.c) get the plain host's solution, which a dense solve and the program judge."""

from __future__ import annotations

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import reference
from staghorn.reference import StaggeredOperator

EXTENTS = (4, 4, 6, 8)
MASS, TOLERANCE = 0.3, 1e-10


@pytest.mark.mpi
@pytest.mark.parametrize("grid", ["1 1 1 1", "1 1 1 2", "1 2 1 2"])
def test_every_order_and_convention_has_the_bits_of_the_plain_host(run_built, grid):
    cut = grid.split()
    result = run_built("fake_hosts", *cut, ranks=int(np.prod([int(n) for n in cut])), threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


@pytest.fixture(scope="module")
def dumped(run_built, tmp_path_factory):
    """(links, source, {system: solution}) of the plain host."""
    path = tmp_path_factory.mktemp("host") / "fields"
    result = run_built("fake_hosts", "dump", path, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    reals = np.fromfile(path).view(np.complex128)
    shape, sites = EXTENTS[::-1], int(np.prod(EXTENTS))
    links, vectors = reals[: 36 * sites].reshape(*shape, 4, 3, 3), reals[36 * sites :].reshape(4, *shape, 3)
    return links, vectors[0], dict(zip(("full", "even", "odd"), vectors[1:]))


def test_a_dense_solve_decides(dumped):
    """Columns of D by the NumPy operator, then elimination: x is right to what the tolerance allows."""
    links, source, solutions = dumped
    operator = StaggeredOperator(links, boundary=(0, 0, 0, 1))
    matrix = np.empty((source.size, source.size), dtype=np.complex128)
    for column in range(source.size):
        unit = np.zeros(source.size, dtype=np.complex128)
        unit[column] = 1
        matrix[:, column] = operator.m(MASS, unit.reshape(source.shape)).ravel()
    expected = np.linalg.solve(matrix, source.ravel()).reshape(source.shape)
    assert relative_difference(solutions["full"], expected) < 10 * TOLERANCE
    for parity, system in enumerate(("even", "odd")):
        x = reference.keep_parity(solutions[system], parity)
        assert relative_difference(operator.a(MASS, x), reference.keep_parity(source, parity)) < 1.01 * TOLERANCE


def test_the_plain_host_has_the_bits_of_the_program(dumped):
    session = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")
    links, source, solutions = dumped
    x, _ = session.Session(links).solve(MASS, source, tolerance=TOLERANCE)
    assert np.array_equal(np.asarray(x).view(np.uint64), solutions["full"].view(np.uint64))
