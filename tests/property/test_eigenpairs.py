"""Eigenpairs of K = -D^2 on even sites: against dense eigenvalues in NumPy, on free fields where many coincide, from many start
vectors, and what happens where the calls or the accuracy do not suffice."""

from __future__ import annotations

import numpy as np
import pytest
from staghorn import reference
from staghorn.reference import StaggeredOperator

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (2, 4, 2, 6)  # 144 dimensions on even sites
FREE = 2 - 2**0.5  # 4 sin^2(pi / 8): the lowest eigenvalue of 8^4, antiperiodic in t; 48-fold


def dense_spectrum(links):
    """Of K on even sites, by LAPACK."""
    operator = StaggeredOperator(links)
    places = np.argwhere(np.repeat((reference.parity(EXTENTS) == 0)[..., None], 3, axis=-1))
    columns = []
    for place in places:
        unit = np.zeros((*reference.parity(EXTENTS).shape, 3), complex)
        unit[tuple(place)] = 1
        columns.append(operator.a(0, unit)[tuple(places.T)])
    return np.linalg.eigvalsh(np.array(columns).T)


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=41)


@pytest.fixture(scope="module")
def free():
    links = np.zeros((8, 8, 8, 8, 4, 3, 3), complex)
    links[...] = np.eye(3)
    return staghorn.Session(links, order="lex")


@pytest.mark.parametrize("pairs", [1, 12, 144])
@pytest.mark.parametrize("loopback", ["", "yt"])
def test_pairs_are_those_of_the_dense_matrix(links, pairs, loopback):
    """144: all there are, in a basis that fills the space."""
    values, vectors, report = staghorn.Session(links, order="lex", loopback=loopback).eigen(pairs)
    assert report["outcome"] == "certified" and len(values) == pairs
    np.testing.assert_allclose(values, dense_spectrum(links)[:pairs], rtol=0, atol=1e-12)
    operator = StaggeredOperator(links)
    odd = reference.parity(EXTENTS) == 1
    for value, vector, residual in zip(values, vectors, report["residuals"], strict=True):
        assert not vector[odd].any()
        assert np.linalg.norm(operator.a(0, vector) - value * vector) == pytest.approx(residual, abs=2e-14)
        assert residual <= 1e-10 * report["largest_eigenvalue"]["value"]
    flat = vectors.reshape(pairs, -1)
    assert abs(flat.conj() @ flat.T - np.eye(pairs)).max() < 1e-12
    assert report["certificate"]["orthogonality"] < 1e-12


def test_all_of_48_equal_eigenvalues_are_found(free):
    """A search that believes residuals and orthogonality alone returns some of the 48 and others of a larger value."""
    found_by_the_probe = 0
    for seed in range(1, 4):
        values, _, report = free.eigen(48, seed=seed, vectors=False)
        assert report["outcome"] == "certified"
        assert abs(values - FREE).max() < 1e-12
        assert report["probe"]["lowest"] > 2
        found_by_the_probe += report["probe"]["found_missing"]
    assert found_by_the_probe > 0


def test_a_part_of_equal_eigenvalues_is_complete(free):
    """40 of 48: those that are left out are not below the last one."""
    values, _, report = free.eigen(40, vectors=False)
    assert report["outcome"] == "certified"
    assert abs(values - FREE).max() < 1e-12
    assert report["probe"]["lowest"] == pytest.approx(FREE, abs=1e-8)


def test_a_wrong_set_is_never_certified(free):
    """However few the calls are: certified and right, or typed otherwise."""
    outcomes = set()
    for max_calls in (10, 100, 800, 1400, 1800, 4000):
        values, _, report = free.eigen(48, max_calls=max_calls, vectors=False)
        outcomes.add(report["outcome"])
        assert report["calls"] <= max_calls
        if report["outcome"] == "certified":
            assert abs(values - FREE).max() < 1e-12
        else:
            assert report["explanation"]
    assert {"certified", "out_of_calls"} <= outcomes


def test_eigenvalues_do_not_depend_on_the_start_vector(links):
    session = staghorn.Session(links, order="lex")
    expected = dense_spectrum(links)[:10]
    calls = set()
    for seed in range(1, 21):
        values, _, report = session.eigen(10, seed=seed, vectors=False)
        assert report["outcome"] == "certified"
        assert abs(values - expected).max() < 1e-12
        calls.add(report["filtered_vectors"])
    assert len(calls) > 1  # the searches differed


def test_a_search_has_no_memory(links):
    """The same request in a session that has worked before has the same bits."""
    session = staghorn.Session(links, order="lex")
    first = session.eigen(8)
    session.solve(0.1, "point:0,0,0,0")
    session.eigen(3, seed=9)
    again = session.eigen(8)
    assert (first[0] == again[0]).all() and (first[1] == again[1]).all()


def test_a_session_reads_the_pairs_that_another_wrote(links, tmp_path):
    pairs = staghorn.Session(links, order="lex").eigen(8, output=tmp_path / "e.h5", vectors=False)
    assert pairs[1] is None
    deflated = staghorn.Session(links, order="lex", eigenvectors=tmp_path / "e.h5")
    assert deflated.solve(0.05, "z2:1", system="even")[1]["deflation"]["pairs"] == 8
    with pytest.raises(staghorn.Error, match="e.h5"):
        staghorn.Session(links, order="lex").eigen(8, output=tmp_path / "e.h5")
    with pytest.raises(staghorn.Error, match="T of a lattice.*a multiple of 4, found 6"):  # before a search of one call
        staghorn.Session(links, order="lex").eigen(8, max_calls=1, output=tmp_path / "e.packed.scidac")


def test_what_rounding_leaves_is_judged(links):
    """Lanczos believes that it reaches 1e-16, and the plain path says what is true."""
    values, _, report = staghorn.Session(links, order="lex").eigen(6, tolerance=1e-16, vectors=False)
    assert report["outcome"] == "inaccurate" and "tolerance" in report["explanation"]
    assert report["converged"] == len(values) == 6
    found = report["certificate"]["largest_residual"] / report["largest_eigenvalue"]["value"]
    assert 1e-16 < found < 1e-14


@pytest.mark.parametrize("options, words", [({"pairs": 0}, "pairs"), ({"pairs": 145}, "144"),
                                            ({"pairs": 4, "tolerance": 1e-17}, "tolerance"),
                                            ({"pairs": 4, "max_calls": 0}, "max_calls")])
def test_requests_that_make_no_sense_are_refused(links, options, words):
    with pytest.raises(staghorn.Error, match=words):
        staghorn.Session(links, order="lex").eigen(**options)


def test_a_session_that_solves_in_mixed_precision_finds_pairs_in_fp64(links):
    (values, vectors, report), (others, other_vectors, _) = (staghorn.Session(links, order="lex", **options).eigen(4)
                                                             for options in ({"sloppy": "none"}, {"sloppy": "fp32"}))
    assert report["precision"] == "fp64"
    assert (values == others).all() and (vectors == other_vectors).all()


def test_a_session_of_fp32_finds_the_values_of_fp64(links):
    session = staghorn.Session(links, order="lex", precision="fp32")
    with pytest.raises(staghorn.Error, match="tolerance: expected a number from 1e-06 to 1 in fp32"):
        session.eigen(2)
    values, vectors, report = session.eigen(20, tolerance=1e-6)
    expected, _, precise = staghorn.Session(links, order="lex").eigen(20, vectors=False)
    assert report["outcome"] == "certified" and vectors.shape[0] == 20
    assert np.abs(values - expected).max() < 1e-11 * precise["largest_eigenvalue"]["value"]
