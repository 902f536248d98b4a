"""What a configuration written by another code says about itself, and what we compute from it."""

from __future__ import annotations

import json

import pytest
from reference_configurations import CONFIGURATIONS

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def inspected(request, staghorn, reference_data, expected):
    result = staghorn("inspect", reference_data / request.param, "--json", check=True)
    return json.loads(result.stdout), expected(request.param)


def gauge_of(report: dict) -> dict:
    return report.get("gauge", report)


def test_plaquettes_agree(inspected):
    found, expected = gauge_of(inspected[0]), inspected[1]["plaquette"]
    assert found["plaquette"] == pytest.approx(expected["all"], abs=2e-12)
    assert found["plaquette_space"] == pytest.approx(expected["ss"], abs=2e-12)
    assert found["plaquette_time"] == pytest.approx(expected["st"], abs=2e-12)


def test_link_trace_agrees(inspected):
    found, expected = gauge_of(inspected[0]), inspected[1]["link_trace_over_3"]
    assert found["link_trace"] == pytest.approx(expected, abs=2e-12)


def test_unitarity_deviation_agrees(inspected):
    found, expected = gauge_of(inspected[0]), inspected[1]["max_unitarity_deviation"]
    assert found["max_unitarity_deviation"] == pytest.approx(expected, rel=1e-6)


def test_checksums_are_the_stored_ones(inspected):
    found, expected = gauge_of(inspected[0])["checksums"], inspected[1]["checksums"]
    names = {"checksum": "nersc"}
    compared = 0
    for name, sums in expected.items():
        result = found[names.get(name, name)]
        assert result["match"]
        if name in ("plaquette", "link_trace"):
            assert float(result["stored"]) == float(sums["stored"])
            assert float(result["computed"]) == pytest.approx(float(sums["stored"]), abs=1e-7)
        else:
            assert int(result["stored"], 16) == int(result["computed"], 16) == int(sums["stored"], 16)
        compared += 1
    assert compared == len(expected)
