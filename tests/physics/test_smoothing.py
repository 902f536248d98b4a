"""Gradient flow, smearing, gauge fixing and loops: against NumPy, under gauge transformations, and by what they must leave alone."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

staghorn_package = pytest.importorskip("staghorn")
pytest.importorskip("staghorn._native", reason="the Python package is not built")
smooth = staghorn_package.smooth

from staghorn.reference import adjoint, gauge_transform_links, random_su3  # noqa: E402
from staghorn.smoothing import reference  # noqa: E402

METHODS = {"wilson": {"time": 0.18, "step": 0.09}, "symanzik": {"time": 0.18, "step": 0.09}, "ape": {"weights": 0.5}, "stout": {"steps": 2, "weights": 0.12}, "hyp": {},
           "ape-space": {"weights": 0.5, "space_only": True}, "stout-space": {"weights": 0.12, "space_only": True}}


@pytest.fixture(scope="module")
def links(rough_gauge):
    return staghorn_package.read_gauge(rough_gauge)[0]


@pytest.fixture(scope="module")
def rotation(links):
    """A random g(x) in SU(3)."""
    return random_su3(np.random.default_rng(3), links.shape[:4])


def smoothed(links, name, **more):
    return smooth(links, name.removesuffix("-space"), **METHODS[name], **more)


def by_numpy(links, name):
    if name in ("wilson", "symanzik"):
        return reference.flow_step(reference.flow_step(links, 0.09, name), 0.09, name)
    if name == "stout":
        return reference.stout(reference.stout(links, 0.12), 0.12)
    return {"ape": lambda: reference.ape(links, 0.5), "hyp": lambda: reference.hyp(links, 0.75, 0.6, 0.3),
            "ape-space": lambda: reference.ape(links, 0.5, 3), "stout-space": lambda: reference.stout(links, 0.12, 3)}[name]()


@pytest.mark.parametrize("name", METHODS)
def test_links_are_those_of_numpy(links, name):
    found, report = smoothed(links, name)
    expected = by_numpy(links, name)
    assert np.max(abs(found - expected)) < 1e-13 and np.max(abs(found - links)) > 0.1
    assert np.max(abs(found @ adjoint(found) - np.eye(3))) < 1e-14
    for when, of in (("before", links), ("after", expected)):
        space, time, charge = reference.energies_and_charge(of)
        loop = reference.polyakov_loop(of)
        assert np.allclose([report[when][key] for key in ("energy_space", "energy_time", "charge")], [space, time, charge], rtol=0, atol=1e-12)
        assert abs(report[when]["polyakov"][0] + 1j * report[when]["polyakov"][1] - loop) < 1e-13


def test_exponentials_of_large_matrices_are_those_of_numpy(links):
    """They are squared several times."""
    found = smooth(links, "stout", weights=3)[0]
    assert np.max(abs(3 * reference.force(links))) > 3 and np.max(abs(found - reference.stout(links, 3))) < 1e-13


def test_links_in_time_stay_where_space_alone_is_smeared(links):
    for name in ("ape-space", "stout-space"):
        assert np.array_equal(smoothed(links, name)[0][..., 3, :, :], links[..., 3, :, :])


@pytest.mark.parametrize("name", METHODS)
def test_smoothing_is_gauge_covariant(links, rotation, name):
    found, report = smoothed(gauge_transform_links(links, rotation), name, loops=(2, 2))
    expected, same = smoothed(links, name, loops=(2, 2))
    assert np.max(abs(found - gauge_transform_links(expected, rotation))) < 1e-12
    for when in ("before", "after"):
        assert np.allclose(np.hstack(list(report[when].values())), np.hstack(list(same[when].values())), rtol=0, atol=1e-12)
    assert np.allclose([loop["value"] for loop in report["wilson_loops"]], [loop["value"] for loop in same["wilson_loops"]], rtol=0, atol=1e-13)


@pytest.mark.parametrize("action", ["wilson", "symanzik"])
def test_the_flow_is_of_third_order(links, action):
    """An error of the third power of the step becomes 8 times smaller where the step is halved."""
    flowed = [smooth(links, action, time=0.2, step=step, measure_every=1000)[0] for step in (0.025, 0.0125, 0.00625)]
    coarse, fine = (np.sqrt(np.sum(abs(a - b) ** 2)) for a, b in zip(flowed, flowed[1:]))
    assert 7.5 < coarse / fine < 9.5 and fine > 1e-6


@pytest.mark.parametrize("action, improvement", [("wilson", 0), ("symanzik", 1 / 12)])
def test_a_weak_wave_decays_as_its_action_says(action, improvement):
    """exp(-k t) with k = p^2 for Wilson's plaquettes and p^2 (1 + p^2 / 12) with rectangles, p = 2 sin(pi / n)."""
    n, size = 8, 1e-4
    links = np.broadcast_to(np.eye(3, dtype=complex), (4, 4, 4, n, 4, 3, 3)).copy()
    wave = size * np.cos(2 * np.pi * np.arange(n) / n)
    links[..., 1, :, :] = np.exp(1j * wave[:, None] * np.array([1, -1, 0]))[..., None, :] * np.eye(3)
    p2 = 4 * np.sin(np.pi / n) ** 2
    found = smooth(links, action, time=1, step=0.05, order="lex")[0]
    assert np.angle(found[0, 0, 0, 0, 1, 0, 0]) / size == pytest.approx(np.exp(-p2 * (1 + improvement * p2)), rel=1e-5)


def test_a_constant_field_has_its_charge_and_energy():
    """Fluxes 1 through the planes xy and zt, of colour charges 1, -1, 0: Q = 2 in the continuum, and sin(phi) stands for phi in the clover."""
    extents = (4, 6, 8, 10)
    nx, ny, nz, nt = extents
    t, z, y, x = np.ogrid[:nt, :nz, :ny, :nx]
    phases = np.zeros((nt, nz, ny, nx, 4))
    for ahead, across, mu, (n, m) in ((x, y, 0, (nx, ny)), (z, t, 2, (nz, nt))):
        phi = 2 * np.pi / (n * m)
        phases[..., mu + 1] = phi * ahead
        phases[..., mu] = np.where(ahead == n - 1, -phi * n * across, 0)
    charges = np.array([1, -1, 0])
    links = np.exp(1j * phases[..., None] * charges)[..., None, :] * np.eye(3)
    report = smooth(links)[1]["after"]
    xy, zt = (n * m * np.sin(2 * np.pi / (n * m)) / (2 * np.pi) for n, m in ((nx, ny), (nz, nt)))
    assert report["charge"] == pytest.approx(2 * xy * zt, abs=1e-12) and report["charge"] == pytest.approx(2, rel=0.02)
    assert report["energy_space"] == pytest.approx(2 * np.sin(2 * np.pi / (nx * ny)) ** 2, abs=1e-13)
    assert report["energy_time"] == pytest.approx(2 * np.sin(2 * np.pi / (nz * nt)) ** 2, abs=1e-13)
    cosines = sum(np.cos(2 * np.pi / (n * m)) for n, m in ((nx, ny), (nz, nt)))
    assert report["energy_plaquette"] == pytest.approx(4 * (2 - cosines), abs=1e-13)
    # The flow leaves a field of constant strength, and its charge, as they are.
    flowed = smooth(links, "wilson", time=1, step=0.1)[1]["after"]
    assert flowed["charge"] == pytest.approx(report["charge"], abs=1e-10)


def test_inspect_shows_the_polyakov_loop(staghorn, rough_gauge, links):
    found = json.loads(staghorn("inspect", rough_gauge, "--json", check=True).stdout)["polyakov"]
    assert found == smooth(links)[1]["before"]["polyakov"]


def test_free_links_stay_as_they_are():
    """Also where they wind around the lattice in time."""
    free = np.broadcast_to(np.eye(3, dtype=complex), (8, 4, 6, 4, 4, 3, 3)).copy()
    free[..., 3, :, :] = np.diag(np.exp(1j * np.array([0.3, -0.1, -0.2])))
    for name in METHODS:
        found, report = smoothed(free, name)
        assert np.max(abs(found - free)) < 1e-15 and abs(report["after"]["energy"]) < 1e-28
        assert report["after"]["plaquette"] == pytest.approx(1, abs=1e-15)


def test_wilson_loops_are_those_of_numpy(links):
    _, report = smooth(links, loops=(3, 2))
    found = {(loop["r"], loop["t"]): loop["value"] for loop in report["wilson_loops"]}
    assert len(found) == 6
    for (r, t), value in found.items():
        assert value == pytest.approx(reference.wilson_loop(links, r, t), abs=1e-14)
    assert found[1, 1] == pytest.approx(report["after"]["plaquette_time"], abs=1e-14)


@pytest.mark.parametrize("condition, directions", [("coulomb", 3), ("landau", 4)])
def test_a_fixed_gauge_is_a_maximum_and_leaves_the_plaquette(links, condition, directions):
    fixed, report = smooth(links, condition, tolerance=1e-20)
    fixing = report["gauge_fixing"]
    assert report["outcome"] == "done" and fixing["theta"] <= 1e-20 and 20 < fixing["sweeps"] < 5000
    functional, theta = reference.functional_and_theta(fixed, directions)
    assert fixing["functional"] == pytest.approx(functional, abs=1e-14) and theta < 1e-19
    before = reference.functional_and_theta(links, directions)
    assert fixing["functional_before"] == pytest.approx(before[0], abs=1e-14) and functional > before[0] + 0.5
    for key in ("plaquette", "energy", "charge", "polyakov"):
        assert np.allclose(report["after"][key], report["before"][key], rtol=0, atol=1e-12)
    # Any small rotation lowers the functional.
    random = np.random.default_rng(1)
    for _ in range(3):
        a = reference.algebra_part(random.normal(size=(*links.shape[:4], 3, 3)) + 1j * random.normal(size=(*links.shape[:4], 3, 3)))
        assert reference.functional_and_theta(gauge_transform_links(fixed, reference.exponential(1e-3 * a)), directions)[0] < functional
    # Fixed links are fixed.
    assert smooth(fixed, condition, tolerance=1e-18)[1]["gauge_fixing"]["sweeps"] == 0


def test_over_relaxation_takes_fewer_sweeps(links):
    sweeps = [smooth(links, "landau", relaxation=w, tolerance=1e-10)[1]["gauge_fixing"]["sweeps"] for w in (1, 1.7)]
    assert sweeps[0] > 1.3 * sweeps[1]


def test_scales_are_where_the_flow_crosses(links):
    """On a lattice whose energy is known: t0 and w0 of the rows of the report, by interpolation here."""
    _, report = smooth(links, "wilson", time=4, step=0.05, measure_every=2)
    t = np.array([row["t"] for row in report["flow"]])
    t2_energy = np.array([row["t2_energy"] for row in report["flow"]])
    assert np.allclose(t2_energy, t**2 * [row["energy"] for row in report["flow"]]) and np.allclose(np.diff(t), 0.1)
    slope = t[1:-1] * (t2_energy[2:] - t2_energy[:-2]) / (t[2:] - t[:-2])
    for values, at, found in ((t2_energy, t, report["t0"]), (slope, t[1:-1], report["w0"] and report["w0"] ** 2)):
        above = np.flatnonzero(values >= 0.3)
        if not len(above):
            assert found is None
        else:
            assert np.interp(found, at, values) == pytest.approx(0.3, abs=1e-12) and at[above[0] - 1] <= found <= at[above[0]]
    assert report["t0"] is not None
    assert smooth(links, "wilson", time=0.1, step=0.05)[1]["t0"] is None


def test_program_and_python_have_the_same_bits(staghorn, rough_gauge, links, tmp_path):
    staghorn("smooth", "--gauge", rough_gauge, "--method", "symanzik", "--time", 0.06, "--step", 0.03, "--loops", "2x3", "--output", tmp_path / "out.h5",
             "--report", tmp_path / "r.json", check=True)
    report = json.loads((tmp_path / "r.json").read_text())
    found, same = smooth(links, "symanzik", time=0.06, step=0.03, loops=(2, 3))
    assert np.array_equal(staghorn_package.read_gauge(tmp_path / "out.h5")[0], found)
    for key in ("parameters", "before", "after", "flow", "wilson_loops", "method", "outcome"):
        assert report[key] == same[key]
    assert np.array_equal(smooth(str(rough_gauge), "symanzik", time=0.06, step=0.03)[0], found)


def test_sweeps_that_run_out_are_told(staghorn, rough_gauge, tmp_path):
    result = staghorn("smooth", "--gauge", rough_gauge, "--method", "landau", "--max-sweeps", 3, "--report", tmp_path / "r.json")
    assert result.returncode == 3 and "NOT CONVERGED   3 sweeps" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["outcome"] == "not_converged"


@pytest.mark.parametrize("method, options, words", [
    ("flow", {}, "method: expected none, wilson, symanzik, ape, stout, hyp, coulomb or landau, found 'flow'"),
    ("wilson", {}, "time: expected how far the links are to flow, found none"),
    ("wilson", {"time": 0.05}, "time: expected a multiple of `step`, 0.02, found 0.05"),
    ("wilson", {"time": -1}, "time: expected a number of at least 0, found -1"),
    ("wilson", {"time": 1, "step": 0}, "step: expected a number above 0, found 0"),
    ("wilson", {"time": 1, "step": -0.1}, "step: expected a number above 0, found -0.1"),
    ("wilson", {"time": 1.6, "step": 0.16}, "step: expected at most 0.157, beyond which the flow is unstable, found 0.16"),
    ("symanzik", {"time": 0.95, "step": 0.095}, "step: expected at most 0.0942, beyond which the flow is unstable, found 0.095"),
    ("stout", {"weights": 1e200}, "weights: expected numbers that leave the links finite, found 1e+200"),
    ("wilson", {"time": 1, "measure_every": 0}, "measure_every: expected a number of at least 1, found 0"),
    ("ape", {"time": 1}, "time: expected `method` wilson or symanzik beside it, found ape"),
    ("wilson", {"time": 1, "steps": 2}, "steps: expected `method` ape, stout or hyp beside it, found wilson"),
    ("stout", {"steps": -1}, "steps: expected a number of at least 0, found -1"),
    ("ape", {"weights": (0.1, 0.2)}, "weights: expected one number, found 2"),
    ("hyp", {"weights": (0.1, 0.2)}, "weights: expected three numbers, found 2"),
    ("hyp", {"space_only": True}, "space_only: expected `method` ape or stout beside it, found hyp"),
    ("landau", {"relaxation": 2}, "relaxation: expected a number from 1 to below 2, found 2"),
    ("landau", {"tolerance": 0}, "tolerance: expected a number above 0, found 0"),
    ("none", {"loops": (5, 1)}, "loops: expected at most 4x10 on this lattice, found 5x1"),
    ("none", {"loops": (0, 1)}, "loops: expected two extents RxT of at least 1, found 0x1"),
])
def test_what_makes_no_sense_is_refused(links, method, options, words):
    with pytest.raises(staghorn_package.Error, match=re.escape(words)):
        smooth(links, method, **options)


def test_links_that_are_not_unitary_are_refused(links):
    with pytest.raises(staghorn_package.Error, match=re.escape("links are not in SU(3)")):
        smooth(1.001 * links)
    repaired, report = smooth(1.0001 * links, reunitarize=True)
    assert report["gauge"]["reunitarized"] and np.max(abs(repaired - links)) < 1e-14
    with pytest.raises(staghorn_package.Error, match="smeared link at site 0,0,0,0 in direction x: expected a matrix of rank three"):
        smooth(links, "ape", weights=1e200)


def test_the_program_names_options_with_dashes(staghorn, expect_error, rough_gauge):
    expect_error(staghorn("smooth", "--gauge", rough_gauge, "--method", "wilson", "--time", 1, "--measure-every", 0), 2, "--measure-every: expected")
    expect_error(staghorn("smooth", "--gauge", rough_gauge, "--method", "ape", "--time", 1), 2, "--time: expected --method wilson or symanzik")
