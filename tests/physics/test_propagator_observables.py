"""The pion correlator and the chiral condensate, judged by the solutions and by an exact trace."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from solve_files import solve
from staghorn import reference

MASS = 0.3


def test_pion_correlator_is_the_norm_of_each_time_slice(staghorn, small_gauge, tmp_path):
    report, solutions = solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--source", "wall:7", "--color", "all")
    expected = (np.abs(solutions) ** 2).sum(axis=(0, 2, 3, 4, 5))
    assert report["pion_correlator"] == pytest.approx(expected, rel=1e-13)


def test_point_propagator_fulfils_the_norm_identity(staghorn, small_gauge, tmp_path):
    """Re tr G(0,0) = 2m sum_x |G(x,0)|^2 = 2m sum_t C(t), from M + M^dagger = 4m."""
    report, solutions = solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--source", "point:1,2,3,4", "--color",
                              "all", "--tolerance", 1e-12)
    at_source = sum(solutions[c, 4, 3, 2, 1, c].real for c in range(3))
    assert at_source == pytest.approx(2 * MASS * sum(report["pion_correlator"]), rel=1e-10)


@pytest.mark.parametrize("noise", ["z2", "gaussian"])
def test_condensate_agrees_with_the_exact_trace(staghorn, tmp_path, noise):
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 2, 4, 2, 4, "--start", "hot", "--seed", 4, "--precision", "fp64", "--output",
             gauge, check=True)
    with h5py.File(gauge) as file:
        operator = reference.StaggeredOperator(file["links"][...].astype(complex))
    size = 3 * 64
    matrix = np.array([operator.m(MASS, e.reshape(4, 2, 4, 2, 3)).ravel() for e in np.eye(size)]).T
    exact = np.trace(np.linalg.inv(matrix)).real / 64
    report, solutions = solve(staghorn, tmp_path, gauge, "--mass", MASS, "--source", f"{noise}:1", "--noise-vectors",
                              40)
    found = report["condensate"]
    assert found["n_vectors"] == 40
    assert 0 < found["error"] < 0.1 * exact
    assert found["value"] == pytest.approx(exact, abs=5 * found["error"])
    # Mean and standard error from the solutions: eta = M x.
    values = [np.vdot(operator.m(MASS, x), x).real / 64 for x in solutions]
    assert found["value"] == pytest.approx(np.mean(values), rel=1e-9)
    assert found["error"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(40), rel=1e-8)


def test_one_noise_vector_has_no_error(staghorn, small_gauge, tmp_path):
    report, _ = solve(staghorn, tmp_path, small_gauge, "--mass", MASS, "--source", "z2:1")
    assert report["condensate"]["error"] == 0 and report["pion_correlator"] == []
