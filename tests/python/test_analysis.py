"""Jackknife errors, effective masses and a mass, against what is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn.analysis import effective_mass, folded, jackknife, pion_mass
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
