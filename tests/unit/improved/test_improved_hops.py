"""The operator of improved quarks: the norms and iterations of the reference, D in NumPy, and the same bits on every process grid,
number of threads, instruction set and number of right-hand sides."""

from __future__ import annotations

import json
from collections import defaultdict
from math import prod

import h5py
import numpy as np
import pytest
from reference_configurations import formula_vector
from staghorn import improved_reference, reference

PRECISIONS = ("fp64", "fp32", "fp16")
NAIK_LINKS = (18, 13, 9)
BOUND = {"fp64": 1e-13, "fp32": 1e-6, "fp16": 1e-3}  # of |D b|^2, which averages what single sites err by


@pytest.fixture
def hops(run_built):
    """hops(gauge, action, precision, naik, ...) -> {what: {right-hand side: text}} of what was printed."""

    def run(gauge, action, precision="fp64", naik=18, grid=(1, 1, 1, 1), kernels="auto", n_rhs=1, mass=None, threads=1):
        result = run_built("improved_hops", gauge, action, *grid, precision, naik, kernels, n_rhs, *([] if mass is None else [mass]),
                           ranks=prod(grid), threads=threads)
        if "instruction set" in result.stdout:
            pytest.skip(f"no {kernels} on this machine")
        assert result.returncode == 0, result.stdout + result.stderr
        found = defaultdict(dict)
        for line in result.stdout.splitlines():
            what, rhs, text = line.split()
            found[what][int(rhs)] = text
        return found

    return run


@pytest.fixture(scope="module")
def expected_improved(reference_data):
    """Results of the HISQ action on lat.sample.l8888."""
    entries = json.loads((reference_data / "reference.json").read_text())["files"]
    return next(entry for entry in entries if entry["file"] == "lat.sample.l8888")["cg"]["hisq"]


@pytest.fixture(scope="module")
def gauge_of_eights(staghorn, tmp_path_factory):
    """4x8x8x8, thermalised a little: no cut leaves fewer than 4 sites."""
    path = tmp_path_factory.mktemp("gauge") / "rough.h5"
    staghorn("generate", "--lattice", 4, 8, 8, 8, "--beta", 6, "--sweeps", 5, "--seed", 5, "--device", "cpu", "--output", path, check=True)
    return path


@pytest.mark.parametrize("naik", NAIK_LINKS)
def test_norms_of_the_reference_are_reproduced(hops, reference_data, expected_improved, naik):
    expected = expected_improved["sources"]
    found = hops(reference_data / "lat.sample.l8888", "hisq", naik=naik)
    for parity in ("even", "odd"):
        assert float.fromhex(found[f"plain_{parity}"][0]) == pytest.approx(expected[f"D_formula_norm2_{parity}"], rel=1e-12)
        assert float.fromhex(found[parity][0]) == pytest.approx(expected[f"D_formula_norm2_{parity}"], rel=1e-12)


@pytest.fixture(scope="module", params=["asqtad", "hisq"])
def action_and_norms(request, gauge_of_eights):
    """An action, and |D b|^2 on even and odd sites by NumPy."""
    with h5py.File(gauge_of_eights) as file:
        links = file["links"][...].astype(complex)
    fat, long = {"asqtad": improved_reference.asqtad_links, "hisq": improved_reference.hisq_links}[request.param](links)
    v = improved_reference.ImprovedOperator(fat, long, phases="milc").d(formula_vector(reference.extents_of(links)))
    return request.param, {parity: reference.norm2(reference.keep_parity(v, which)) for which, parity in enumerate(("even", "odd"))}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("naik", NAIK_LINKS)
def test_norms_are_those_of_numpy(hops, gauge_of_eights, action_and_norms, precision, naik):
    action, norms = action_and_norms
    found = hops(gauge_of_eights, action, precision, naik)
    for parity, expected in norms.items():
        assert float.fromhex(found[f"plain_{parity}"][0]) == pytest.approx(expected, rel=1e-13)
        assert float.fromhex(found[parity][0]) == pytest.approx(expected, rel=BOUND[precision])


@pytest.mark.mpi
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("naik", NAIK_LINKS)
def test_bits_do_not_depend_on_ranks_threads_and_right_hand_sides(hops, gauge_of_eights, precision, naik):
    """Local extents down to 4, with virtual nodes on some grids, without on others."""
    expected = hops(gauge_of_eights, "hisq", precision, naik, n_rhs=5)
    assert len(set(expected["bits"].values())) == 5
    for grid, threads, n_rhs in (((1, 1, 1, 1), 2, 3), ((1, 1, 1, 2), 1, 5), ((1, 2, 1, 1), 2, 1), ((1, 1, 2, 2), 1, 4), ((1, 2, 2, 2), 1, 2)):
        found = hops(gauge_of_eights, "hisq", precision, naik, grid=grid, threads=threads, n_rhs=n_rhs)
        for what in found:
            assert found[what] == {r: expected[what][r] for r in found[what]}, (what, grid)


@pytest.mark.mpi
def test_sixteen_ranks_have_the_bits_of_one(hops, staghorn, tmp_path):
    """Every direction cut, and local extents of 4: each face is three of the four slices."""
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 8, "--start", "hot", "--sweeps", 0, "--beta", 6, "--seed", 5, "--device", "cpu",
             "--output", gauge, check=True)
    for precision, naik in (("fp64", 18), ("fp16", 9)):
        assert hops(gauge, "hisq", precision, naik, grid=(2, 2, 2, 2)) == hops(gauge, "hisq", precision, naik)


@pytest.mark.parametrize("kernels", ["baseline", "avx2"])
def test_bits_do_not_depend_on_the_instruction_set(hops, gauge_of_eights, kernels):
    for precision in PRECISIONS:
        assert hops(gauge_of_eights, "hisq", precision, 13, kernels=kernels) == hops(gauge_of_eights, "hisq", precision, 13), precision


@pytest.mark.mpi
def test_cg_takes_the_iterations_of_the_reference_on_every_grid(hops, reference_data, expected_improved):
    listed = next(entry for entry in expected_improved["masses"] if entry["m_MILC"] == 0.1)["even_formula"]
    found = [hops(reference_data / "lat.sample.l8888", "hisq", grid=grid, n_rhs=n, mass=0.1)
             for grid, n in (((1, 1, 1, 1), 3), ((1, 1, 2, 2), 1))]
    assert abs(int(found[0]["iterations"][0]) - listed["iterations"]["1e-10"]) <= 1
    assert float.fromhex(found[0]["residual"][0]) < 1.5e-10
    assert float.fromhex(found[0]["solution"][0]) == pytest.approx(listed["norm2"], rel=1e-9)
    assert found[0]["solution_bits"][0] == found[1]["solution_bits"][0]
    assert len({found[0]["iterations"][r] for r in range(3)}) == 1  # columns are powers of two apart


def test_small_extents_are_refused_by_name(run_built, small_gauge):
    result = run_built("improved_hops", small_gauge, "asqtad", 2, 1, 1, 1, "fp64", 18, "auto", 1, ranks=2)
    assert result.returncode == 1
    assert "improved quarks: expected local extents of at least 4, for hops of three sites, found 2x6x8x10" in result.stdout
