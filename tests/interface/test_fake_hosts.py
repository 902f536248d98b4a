"""Codes with fields of their own (fake_hosts.c) get the plain host's solution, which a dense solve and the program judge."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import reference
from staghorn.reference import StaggeredOperator

ROOT = Path(__file__).resolve().parents[2]
EXTENTS = (4, 4, 6, 8)
MASS, TOLERANCE = 0.3, 1e-10


@pytest.mark.mpi
@pytest.mark.parametrize("grid", ["1 1 1 1", "1 1 1 2", "1 2 1 2"])
def test_every_order_and_convention_has_the_bits_of_the_plain_host(run_built, grid):
    cut = grid.split()
    result = run_built("fake_hosts", *cut, ranks=int(np.prod([int(n) for n in cut])), threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("nodes", ["", "1 1 1 1", "1 1 1 2", "1 2 1 2"])
def test_a_program_written_against_cps_gets_what_cps_promises(run_built, nodes):
    cut = nodes.split()
    result = run_built("cps_program", *cut, ranks=int(np.prod([int(n) for n in cut])), threads=1)
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


# What stands around the function of the page: headers of CPS by their names, unit links, a source of ones.
CPS_HEADERS = ["alg/cg_arg.h", "util/gjp.h", "util/lattice.h"]
CPS_MAIN = """
namespace cps { GlobalJobParameter GJP = {{4, 4, 4, 8}, {1, 1, 1, 1}, {0, 0, 0, 0},
    {BND_CND_PRD, BND_CND_PRD, BND_CND_PRD, BND_CND_APRD}, {0, 0, 0, 0}, 1, 1, 1, 3}; }
int main() {
  staghorn_cps::Connection staghorn;
  std::vector<Vector> x(512), b(512);
  Lattice::links().resize(2048);
  for (Matrix& u : Lattice::links()) u.u[0] = u.u[8] = u.u[16] = 1;
  for (Vector& v : b) v.v[0] = 1;
  CgArg arg = {0.5, 1e-10, 0, 100};
  return propagator(staghorn, x.data(), b.data(), &arg) < 2;
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")
def test_the_function_of_the_page_for_cps_compiles_and_solves(program, tmp_path):
    for name in CPS_HEADERS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'#include "{ROOT}/tests/interface/fake_cps.hpp"\n')
    code = re.search(r"```cpp\n(.*?)```", (ROOT / "docs" / "interfaces" / "cps.md").read_text(), re.DOTALL)[1]
    (tmp_path / "main.cpp").write_text(code + CPS_MAIN)
    subprocess.run(["g++", "-std=c++11", "-Wall", "-Werror", f"-I{tmp_path}", f"-I{ROOT}/solver/interface", tmp_path / "main.cpp",
                    f"-L{program.parent}", "-lstaghorn", f"-Wl,-rpath,{program.parent}", "-o", tmp_path / "host"], check=True)
    result = subprocess.run([tmp_path / "host"], capture_output=True, text=True, timeout=180)
    assert result.returncode == 0 and re.fullmatch(r"\d+ iterations, true residual \d\.\de-1\d\n", result.stdout), result.stdout
