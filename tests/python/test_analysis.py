"""Jackknife errors, effective masses and a mass, against what is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn.analysis import effective_mass, folded, jackknife, meson_mass, pion_mass
from staghorn.errors import Error

T, MASS = 16, 0.437


def correlator(mass=MASS, scale=1.0):
    return scale * np.cosh(mass * (T / 2 - np.arange(T)))


def test_error_of_a_mean_is_the_standard_error():
    samples = np.random.default_rng(3).normal(size=(20, 5))
    estimate = jackknife(samples)
    assert np.allclose(estimate.value, samples.mean(axis=0)) and np.allclose(estimate.error, samples.std(axis=0, ddof=1) / np.sqrt(20))


def test_error_of_a_function_is_that_of_its_slope():
    samples = 5 + 1e-3 * np.random.default_rng(4).normal(size=50)
    linear, squared = jackknife(samples), jackknife(samples, np.square)
    assert squared.error == pytest.approx(2 * linear.value * linear.error, rel=1e-3)


def test_one_sample_has_no_error():
    assert np.isnan(jackknife([[1.0, 2.0]]).error).all()
    assert "no error" in str(pion_mass(correlator(), 3, 6))
    with pytest.raises(Error, match="samples: expected one sample at least"):
        jackknife([])


def test_a_cosh_has_its_mass_on_every_slice():
    assert np.allclose(effective_mass(correlator()), MASS, rtol=1e-12) and len(effective_mass(correlator())) == T // 2 - 1
    assert np.allclose(folded(correlator()), correlator()[: T // 2 + 1])
    found = pion_mass([correlator(scale=scale) for scale in (1.0, 1.1, 0.9)], 3, 6)
    assert found.value == pytest.approx(MASS, rel=1e-12) and found.error < 1e-9


def test_error_of_the_mass_covers_the_truth():
    """68 % of ensembles lie within one error: of 200, more than half and less than 85 %."""
    random = np.random.default_rng(5)
    inside = 0
    for _ in range(200):
        ensemble = [correlator() * (1 + 0.01 * random.normal(size=T)) for _ in range(20)]
        found = pion_mass(ensemble, 3, 6)
        inside += abs(found.value - MASS) < found.error
    assert 100 < inside < 170


@pytest.mark.parametrize("first, last", [(0, 3), (3, 8), (5, 4)])
def test_a_plateau_outside_the_lattice_is_refused(first, last):
    with pytest.raises(Error, match="first, last: expected 1 <= first <= last <= 7"):
        pion_mass(correlator(), first, last)


def test_a_slice_without_effective_mass_is_refused():
    with pytest.raises(Error, match="effective mass on every slice"):
        pion_mass(np.sin(np.arange(T)) + 2, 1, 7)


def meson(mass=MASS, partner=0.9, share=0.4, extent=24):
    t = np.arange(extent)
    return np.cosh(mass * (extent / 2 - t)) + share * (-1.0) ** t * np.cosh(partner * (extent / 2 - t)) / np.exp((partner - mass) * extent / 2)


def test_a_fit_finds_the_mass_and_that_of_its_oscillating_partner():
    found = meson_mass([scale * meson() for scale in (1.0, 1.1, 0.9)], 1, 12)
    assert found.value == pytest.approx(MASS, rel=1e-6) and found.partner == pytest.approx(0.9, rel=1e-5) and found.degrees == 8
    assert meson_mass(-meson(), 1, 12).value == pytest.approx(MASS, rel=1e-6), "of any sign"
    alone = meson_mass(correlator(), 2, 8, partner=False)
    assert alone.value == pytest.approx(MASS, rel=1e-8) and alone.partner is None and "no error" in str(alone)
    # A pure cosh does not fit what oscillates.
    assert abs(meson_mass(meson(), 1, 12, partner=False).value - MASS) > 1e-3


@pytest.mark.parametrize("correlated", [False, True])
def test_the_error_of_a_fit_covers_the_truth_and_chi2_is_that_of_its_degrees(correlated):
    random = np.random.default_rng(6)
    inside, chi2 = 0, []
    for _ in range(30):
        ensemble = [meson() * (1 + 0.02 * random.normal(size=24)) for _ in range(40)]
        found = meson_mass(ensemble, 2, 10, correlated=correlated)
        inside += abs(found.value - MASS) < found.error
        chi2.append(found.chi2)
    assert 12 <= inside <= 28 and found.degrees == 5 and 3 < np.mean(chi2) < 8


def test_slices_that_do_not_suffice_for_a_fit_are_refused():
    with pytest.raises(Error, match="first, last: expected 4 slices at least, of 0 to 12, found 3 and 5"):
        meson_mass(meson(), 3, 5)
    with pytest.raises(Error, match="correlated: expected more samples than the 11 slices, found 2"):
        meson_mass([meson(), meson()], 1, 11, correlated=True)
