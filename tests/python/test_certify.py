"""staghorn.certify: arrays and files of links and vectors, and what it refuses."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from staghorn.reference import StaggeredOperator, random_links, random_vector

staghorn = pytest.importorskip("staghorn.certificates", reason="the compiled Python module is not built")

EXTENTS, MASS = (4, 4, 4, 6), 0.3


@pytest.fixture(scope="module")
def solved():
    links, b = random_links(EXTENTS, 1), random_vector(EXTENTS, 2)
    return links, StaggeredOperator(links, phases="milc").solve(MASS, b, 1e-13)[0], b


def test_arrays_are_certified_and_their_convention_is_named(solved):
    links, x, b = solved
    report = staghorn.certify(links, x, b, mass=MASS, phases="milc")
    assert report["outcome"] == "certified" and max(report["residuals"]) < 1e-11 and report["solution"] is None
    found = staghorn.certify(links, np.stack([2 * x, 4 * x]), np.stack([b, 2 * b]))
    assert found["outcome"] == "other_convention" and len(found["residuals"]) == 2
    assert (found["convention"]["equation"], found["convention"]["phases"], found["convention"]["mass"]) == ("(m + D/2) x = b", "milc", MASS)
    assert staghorn.certify(links, 2 * x, b, any_convention=True)["outcome"] == "certified"
    assert staghorn.certify(links, 2 * x, b, search=False)["tried"] == 0


def test_arrays_in_fp32_are_judged_as_such(solved):
    links, x, b = solved
    report = staghorn.certify(links, x.astype(np.complex64), b, mass=MASS, phases="milc")
    assert (report["outcome"], report["precision"], report["tolerance"]) == ("certified", "fp32", 1e-6)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-300])
def test_residuals_are_relative_at_any_scale(solved, scale):
    links, x, b = solved
    assert staghorn.certify(links, scale * x, scale * b, mass=MASS, phases="milc")["outcome"] == "certified"
    assert staghorn.certify(links, 1.001 * scale * x, scale * b, mass=MASS, phases="milc", search=False)["outcome"] == "not_certified"


def test_files_and_words_are_taken(solved, small_gauge, tmp_path):
    import staghorn as package

    x, _ = package.solve(small_gauge, 0.5, "point:0,0,0,0")
    package.write_vectors(tmp_path / "x.h5", x, name="solution")
    report = package.certify(small_gauge, tmp_path / "x.h5", "point:0,0,0,0", mass=0.5, boundary=(0, 0, 0, 1))
    assert report["outcome"] == "certified" and len(report["residuals"]) == 3 and report["solution"].endswith("x.h5")
    assert package.certify(small_gauge, tmp_path / "x.h5", action="hisq")["convention"]["action"] == "naive"


def test_what_makes_no_sense_is_refused(solved):
    links, x, b = solved
    for wrong, said in [(lambda: staghorn.certify(links, x[..., :2], b), "solution: expected shape"),
                        (lambda: staghorn.certify(links, x[:4], b), "solution: lattice: expected 4x4x4x6"),
                        (lambda: staghorn.certify(links, x, np.stack([b, b])), "source: expected 1 vectors, one for each solution .*found 2"),
                        (lambda: staghorn.certify(links, 0 * x, b), "zero"), (lambda: staghorn.certify(links, x * np.nan, b), "NaN"),
                        (lambda: staghorn.certify(None, x, b), "gauge: expected"), (lambda: staghorn.certify(links, x, b, mass=-1), "mass"),
                        (lambda: staghorn.certify(links, x, b, system="both"), "system")]:
        with pytest.raises(staghorn.Error, match=said):
            wrong()
    with pytest.raises(TypeError, match="sloppy"):
        staghorn.certify(links, x, b, sloppy="fp32")
    assert "boundary" in inspect.signature(staghorn.certify).parameters
