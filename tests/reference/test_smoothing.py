"""Flow, loops and gauge fixing of lat.sample.l8888 agree with those of MILC."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytestmark = pytest.mark.reference

LINKS = {"as stored": (), "reunitarised on reading": ("--reunitarize",)}


@pytest.fixture(scope="module")
def of_milc(reference_data):
    path = reference_data / "flow.json"
    if not path.is_file():
        pytest.skip("reference data: flow.json is absent")
    return json.loads(path.read_text())["configurations"][0]


@pytest.fixture(scope="module")
def smooth(staghorn, reference_data, tmp_path_factory):
    """smooth(*options) -> report of `staghorn smooth` on that configuration."""

    def run(*options):
        report = tmp_path_factory.mktemp("smoothed") / "report.json"
        staghorn("smooth", "--gauge", reference_data / "lat.sample.l8888", *options, "--report", report, "--quiet", check=True)
        return json.loads(report.read_text())

    return run


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize("action", ["wilson", "symanzik"])
def test_flow_is_that_of_milc(smooth, of_milc, action, links):
    expected = next(flow for flow in of_milc["flow"] if (flow["action"], flow["links"]) == (action, links))
    whole = (action, links) == ("wilson", "as stored")  # the others, a part of the way
    report = smooth("--method", action, "--time", expected["after_t"] if whole else 0.2, "--step", expected["step"], *LINKS[links])
    for found, key in (("t", "t"), ("energy_time", "E_temporal"), ("energy_space", "E_spatial"), ("charge", "charge")):
        values = np.array(expected[key][:len(report["flow"])])
        assert len(values) == (len(expected[key]) if whole else 11)
        assert np.max(abs(np.array([row[found] for row in report["flow"]]) - values)) < 1e-13
    for when in ("before", "after") if whole else ("before",):
        assert report[when]["plaquette_space"] == pytest.approx(expected[when]["plaquette_ss"], abs=1e-13)
        assert report[when]["plaquette_time"] == pytest.approx(expected[when]["plaquette_st"], abs=1e-13)
        assert np.allclose(3 * np.array(report[when]["polyakov"]), expected[when]["polyakov"], rtol=0, atol=1e-13)


@pytest.mark.parametrize("condition", ["coulomb", "landau"])
def test_functionals_are_those_of_milc(smooth, of_milc, condition):
    """MILC ends where a sweep changes the functional by less than 1e-14, with four relaxations; all reach one maximum here."""
    runs = [run for run in of_milc["gauge_fixing"] if run["gauge"] == condition]
    fixing = smooth("--method", condition, "--reunitarize", "--tolerance", 1e-16, "--relaxation", 1.6)["gauge_fixing"]
    assert len(runs) == 4 and fixing["theta"] <= 1e-16
    for run in runs:
        assert fixing["functional"] == pytest.approx(run["functional"], abs=1e-10 if run["links"] == "as stored" else 1e-12)
