"""The NumPy operator that the other tests judge by has the properties that its equations promise."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from solve_files import relative_difference
from staghorn import improved_reference, reference
from staghorn.improved_reference import ImprovedOperator
from staghorn.reference import StaggeredOperator

EXTENTS = (4, 6, 8, 10)
EPSILON = np.finfo(float).eps


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=1)


@pytest.fixture(scope="module", params=["cps", "milc"])
def operator(request, links):
    return StaggeredOperator(links, boundary=(0.25, 1, 0, 1), phases=request.param)


def test_hop_is_antihermitian(operator):
    a, b = reference.random_vector(EXTENTS, 2), reference.random_vector(EXTENTS, 3)
    left, right = np.vdot(a, operator.d(b)), np.vdot(operator.d(a), b)
    assert abs(left + right) < 100 * EPSILON * np.linalg.norm(a) * np.linalg.norm(b)


def test_hop_changes_parity(operator):
    even = reference.keep_parity(reference.random_vector(EXTENTS, 2), 0)
    assert not reference.keep_parity(operator.d(even), 0).any()


def test_hop_is_gauge_covariant(links):
    nx, ny, nz, nt = EXTENTS
    g = reference.random_su3(np.random.default_rng(4), (nt, nz, ny, nx))
    v = reference.random_vector(EXTENTS, 5)
    transformed = StaggeredOperator(reference.gauge_transform_links(links, g))
    left = transformed.d(reference.gauge_transform_vector(v, g))
    right = reference.gauge_transform_vector(StaggeredOperator(links).d(v), g)
    assert relative_difference(left, right) < 20 * EPSILON


def test_plaquette_is_gauge_invariant(links):
    nx, ny, nz, nt = EXTENTS
    g = reference.random_su3(np.random.default_rng(4), (nt, nz, ny, nx))
    transformed = reference.plaquettes(reference.gauge_transform_links(links, g))
    assert transformed == pytest.approx(reference.plaquettes(links), abs=100 * EPSILON)


@pytest.mark.parametrize("extents", sorted(permutations(EXTENTS))[::5])
@pytest.mark.parametrize("boundary", [(0, 0, 0, 1), (1, 0.5, 0.25, 0)])
def test_plane_waves_have_the_free_spectrum(extents, boundary):
    operator = StaggeredOperator(reference.free_links(extents), boundary=boundary)
    wave, p = reference.plane_wave(extents, (1, 2, -1, 3), boundary)
    v = wave[..., None] * np.array([1, 0.5j, -2])
    assert relative_difference(-operator.d(operator.d(v)), 4 * (np.sin(p) ** 2).sum() * v) < 100 * EPSILON


def test_milc_phases_are_a_sign_away(links):
    b = reference.random_vector(EXTENTS, 6)
    s = reference.milc_sign(EXTENTS)
    milc, cps = StaggeredOperator(links, phases="milc"), StaggeredOperator(links, phases="cps")
    assert relative_difference(milc.d(b), s * cps.d(s * b)) < 10 * EPSILON


def test_even_odd_solve_solves_the_full_system(operator):
    b = reference.random_vector(EXTENTS, 7)
    x, _ = operator.solve(0.5, b, tolerance=1e-13)
    assert relative_difference(operator.m(0.5, x), b) < 1e-12


# --- improved quarks ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def improved_links():
    """Fat links and Naik links of some matrices: what follows holds for all."""
    random = np.random.default_rng(8)
    shape = (*EXTENTS[::-1], 4, 3, 3)
    return tuple(random.normal(size=shape) + 1j * random.normal(size=shape) for _ in range(2))


@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_improved_hop_is_antihermitian_and_changes_parity(improved_links, phases):
    operator = ImprovedOperator(*improved_links, boundary=(0.25, 1, 0, 1), phases=phases)
    a, b = reference.random_vector(EXTENTS, 2), reference.random_vector(EXTENTS, 3)
    left, right = np.vdot(a, operator.d(b)), np.vdot(operator.d(a), b)
    assert abs(left + right) < 100 * EPSILON * np.linalg.norm(a) * np.linalg.norm(operator.d(b))
    assert not reference.keep_parity(operator.d(reference.keep_parity(a, 0)), 0).any()


def test_improved_hop_is_gauge_covariant(links):
    """D of smeared links that are made from turned thin links, against turned D v."""
    nx, ny, nz, nt = EXTENTS
    g = reference.random_su3(np.random.default_rng(4), (nt, nz, ny, nx))
    v = reference.random_vector(EXTENTS, 5)
    turned = ImprovedOperator(*improved_reference.asqtad_links(reference.gauge_transform_links(links, g)))
    left = turned.d(reference.gauge_transform_vector(v, g))
    right = reference.gauge_transform_vector(ImprovedOperator(*improved_reference.asqtad_links(links)).d(v), g)
    assert relative_difference(left, right) < 40 * EPSILON


@pytest.mark.parametrize("boundary", [(0, 0, 0, 1), (1, 0.5, 0.25, 0)])
@pytest.mark.parametrize("epsilon", [0, -0.224661])
def test_plane_waves_have_the_free_spectrum_of_hisq(boundary, epsilon):
    """-D^2 = 4 sum_mu (F sin p + N sin 3p)^2 with F = 9/8 + epsilon/8 and N = -(1 + epsilon)/24."""
    fat, naik = improved_reference.hisq_links(reference.free_links(EXTENTS), epsilon)
    operator = ImprovedOperator(fat, naik, boundary=boundary)
    wave, p = reference.plane_wave(EXTENTS, (1, 2, -1, 3), boundary)
    v = wave[..., None] * np.array([1, 0.5j, -2])
    eigenvalue = 4 * (((9 + epsilon) / 8 * np.sin(p) - (1 + epsilon) / 24 * np.sin(3 * p)) ** 2).sum()
    assert relative_difference(-operator.d(operator.d(v)), eigenvalue * v) < 200 * EPSILON


def test_improved_hop_in_milc_phases_is_a_sign_away(improved_links):
    b, s = reference.random_vector(EXTENTS, 6), reference.milc_sign(EXTENTS)
    milc, cps = (ImprovedOperator(*improved_links, phases=phases) for phases in ("milc", "cps"))
    assert relative_difference(milc.d(b), s * cps.d(s * b)) < 10 * EPSILON
