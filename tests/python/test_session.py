"""The Python package: arrays in and out, and errors that say what was expected and found."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from program_under_test import built_with_mpi
from staghorn import reference

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 4, 2, 6)


@pytest.fixture(scope="module")
def session():
    return staghorn.Session(reference.random_links(EXTENTS, seed=41), device="cpu")  # a GPU tells its progress at other intervals


def test_gauge_file_comes_as_an_array_with_its_header(small_gauge):
    links, info = staghorn.read_gauge(small_gauge)
    assert links.shape == (10, 8, 6, 4, 4, 3, 3)
    assert info["format"] == "hdf5" and list(info["lattice"]) == [4, 6, 8, 10]
    assert all(checksum["match"] for checksum in info["checksums"].values())
    session = staghorn.Session(small_gauge)
    assert session.lattice == (4, 6, 8, 10)
    assert np.array_equal(session.links, links)
    assert session.gauge["plaquette"] == pytest.approx(reference.plaquettes(links)["all"], abs=1e-14)
    assert session.gauge["link_trace"] == pytest.approx(reference.link_trace(links), abs=1e-14)


def test_solution_has_the_shape_of_the_source(session):
    b = reference.random_vector(EXTENTS, 42)
    assert session.solve(0.5, b)[0].shape == b.shape
    assert session.solve(0.5, b[None])[0].shape == (1, *b.shape)
    assert session.solve(0.5, "point:0,0,0,0")[0].shape == (3, *b.shape)
    assert session.solve(0.5, "point:0,0,0,0", color=2)[0].shape == (1, *b.shape)


def test_source_may_be_any_real_or_complex_array(session):
    b = reference.random_vector(EXTENTS, 43).real
    x, _ = session.solve(0.5, b.astype(np.float32))
    same, _ = session.solve(0.5, np.asfortranarray(b.astype(np.float32).astype(complex)))
    assert np.array_equal(x, same)


@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_arrays_that_come_in_stay_as_they_are_and_the_solution_outlives_the_session(phases):
    session = staghorn.Session(reference.random_links(EXTENTS, seed=41))
    b, guess = reference.random_vector(EXTENTS, 47), reference.random_vector(EXTENTS, 48)
    before = b.copy(), guess.copy()
    b.flags.writeable = guess.flags.writeable = False
    x, report = session.solve(0.5, b, guess=guess, phases=phases)
    values = x.copy()
    del session
    assert report["outcome"] == "certified"
    assert np.array_equal(b, before[0]) and np.array_equal(guess, before[1]) and np.array_equal(x, values)
    x[...] = 0  # it is the caller's


@pytest.mark.parametrize("sloppy, sloppy_links", [("fp32", None), ("fp32", 18), ("fp16", 12), ("fp16", "8")])
def test_mixed_precision_reaches_what_fp64_does(sloppy, sloppy_links):
    links, b = reference.random_links(EXTENTS, seed=41), reference.random_vector(EXTENTS, 49)
    x, report = staghorn.Session(links, sloppy=sloppy, sloppy_links=sloppy_links).solve(0.5, b, tolerance=1e-12)
    assert report["outcome"] == "certified" and report["rhs"][0]["updates"]
    assert report["sloppy"] == sloppy and report["sloppy_links"] == int(sloppy_links or 12)
    assert np.allclose(x, staghorn.Session(links).solve(0.5, b, tolerance=1e-12)[0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("options", [{"sloppy": "none"}, {}, {"sloppy": "fp16", "loopback": "xt"}, {"precision": "fp32", "links": 12}])
def test_batches_of_any_size_have_the_bits_of_a_new_session(options):
    links, b = reference.random_links(EXTENTS, seed=41), reference.random_vector(EXTENTS, 50)
    batches = [b, np.stack([b, 1j * b, b.conj()]), -b]
    session = staghorn.Session(links, **options)
    for batch in batches:
        x, report = session.solve(0.5, batch)
        alone, alone_report = staghorn.Session(links, **options).solve(0.5, batch)
        assert np.array_equal(x, alone) and report["rhs"] == alone_report["rhs"]
        memory, predicted = report["memory_bytes"], report["predicted_memory_bytes"]
        assert all(memory[name] <= predicted[name] for name in predicted)


@pytest.mark.parametrize("options, words", [
    ({"sloppy": "fp64"}, "sloppy: expected auto, fp32, fp16 or none"),
    ({"sloppy": "fp8"}, "sloppy: expected auto, fp32, fp16 or none, found 'fp8'"),
    ({"sloppy": "fp16", "precision": "fp32"}, "sloppy: expected fp32 or fp16 below precision fp64, found fp16 below fp32"),
    ({"sloppy_links": 12, "sloppy": "none"}, "sloppy_links: expected a sloppy precision"),
    ({"tuning": "sometimes"}, "on, off or again"),
    ({"blas": "mkl"}, "fused or cublas"),
    ({"blas": "cublas", "sloppy": "fp32"}, "sloppy fp32"),
    ({"blas": "cublas", "device": "cpu"}, "GPU"),
    ({"device": "tpu"}, "tpu"),
    ({"shares": "auto"}, "shares: expected even, or the shares of the lattice of these links, which is cut already, found auto"),
    ({"slow_device": "1:2"}, "slow_device: expected ranks below 1, found rank 1"),
])
def test_options_that_do_not_fit_are_errors_that_say_why(options, words):
    with pytest.raises(staghorn.Error, match=words):
        staghorn.Session(reference.random_links(EXTENTS, seed=41), **options)


def test_noise_gives_a_condensate_with_an_error(session):
    _, report = session.solve(0.5, "z2:7", noise_vectors=4)
    assert report["condensate"]["n_vectors"] == 4 and report["condensate"]["error"] > 0


def test_running_out_of_iterations_is_a_result(session):
    x, report = session.solve(0.01, "point:0,0,0,0", color=0, max_iterations=3)
    assert report["outcome"] == "out_of_iterations" and report["explanation"]
    assert report["rhs"][0]["iterations"] == 3 and x.any()


@pytest.mark.parametrize("bad, words", [
    (lambda b: b[..., :2], "shape"),
    (lambda b: b[0], "shape"),
    (lambda b: b[:, :, :, :2], r"expected shape \(6, 2, 4, 4, 3\), found \(6, 2, 4, 2, 3\)"),
    (lambda b: 0 * b, "zero"),
    (lambda b: np.where(abs(b) == abs(b).max(), np.nan, b), "nan|NaN|finite"),
    (lambda b: "spot:0,0,0,0", "point"),
    (lambda b: "point:9,0,0,0", "4x4x2x6|point"),
])
def test_bad_source_is_an_error_that_says_why(session, bad, words):
    with pytest.raises(staghorn.Error, match=words):
        session.solve(0.5, bad(reference.random_vector(EXTENTS, 44)))


@pytest.mark.parametrize("mass", [0, -0.1, float("nan")])
def test_mass_must_be_positive_for_the_full_system(session, mass):
    with pytest.raises(staghorn.Error, match="mass"):
        session.solve(mass, reference.random_vector(EXTENTS, 45))


def test_links_that_are_not_unitary_are_refused():
    with pytest.raises(staghorn.Error, match="unitar|SU\\(3\\)"):
        staghorn.Session(1.1 * reference.random_links(EXTENTS, seed=46))


def test_progress_is_told_and_shown_and_its_error_ends_the_solve(session, monkeypatch):
    seen, shown = [], []
    x, report = session.solve(0.05, "z2:1", noise_vectors=2, progress=lambda *at: seen.append(at))
    most = max(rhs["iterations"] for rhs in report["rhs"])
    assert [at[0] for at in seen] == list(range(16, most + 1, 16)) and seen[0][1] > seen[-1][1] > 1
    of_batches = []
    session.solve(0.05, "z2:1", noise_vectors=2, batch=1, progress=lambda *at: of_batches.append(at[0]))
    assert of_batches == list(range(16, 16 * len(of_batches) + 1, 16)) and of_batches[-1] > most  # one after the other

    def again(iteration, ratio):
        session.solve(0.05, "z2:1")

    with pytest.raises(staghorn.Error, match="context: expected one call at a time"):
        session.solve(0.05, "z2:1", progress=again)
    with pytest.raises(ZeroDivisionError):
        session.solve(0.05, "z2:1", progress=lambda *at: 1 / 0)
    display = lambda data, **how: shown.append(data["text/plain"]) or types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    again, _ = session.solve(0.05, "z2:1", noise_vectors=2, progress=True)
    assert np.array_equal(x, again) and shown[0].startswith("iteration ") and shown[-1].startswith("certified: 2 right-hand sides")


def test_missing_file_is_named():
    with pytest.raises(staghorn.Error, match="no_such_file"):
        staghorn.Session("no_such_file")


needs_mpi = pytest.mark.skipif(not built_with_mpi(), reason="a build without MPI")


@needs_mpi
def test_a_session_calls_no_function_of_mpi(small_gauge):
    """Where the first that it called while it sets up would fail: see below."""
    code = ("import sys, staghorn\n"
            "print(staghorn.Session(sys.argv[1]).solve(0.5, 'point:0,0,0,0')[1]['outcome'])\n")
    package = str(Path(staghorn.__file__).parent.parent)
    result = subprocess.run([sys.executable, "-c", code, small_gauge], capture_output=True, text=True, timeout=180,
                            env={**os.environ, "STAGHORN_FAIL_MPI": "0:1 in setting up the operator", "PYTHONPATH": package})
    assert result.returncode == 0 and result.stdout == "certified\n", result.stdout + result.stderr


SET_UP_THAT_FAILS = """
import staghorn
from mpi4py import MPI
from staghorn import reference
context = staghorn.Context((4, 4, 2, 6), comm=MPI.COMM_WORLD, environment=True)
gauge, b = context.gauge(reference.random_links((4, 4, 2, 6), seed=41)), reference.random_vector((4, 4, 2, 6), 42)
try:
    gauge.solve(0.5, b, sloppy="fp32")
except staghorn.Error as error:
    print(error.kind, error)
report = gauge.solve(0.5, b, sloppy="fp32")[1]
print(report.outcome, len(report.rhs[0].updates) > 0)
"""


@needs_mpi
def test_a_set_up_that_failed_is_made_whole_by_the_next_solve():
    """Each call of MPI that setting up the operators of both precisions makes fails once, until no call is left to fail."""
    pytest.importorskip("mpi4py")
    package = str(Path(staghorn.__file__).parent.parent)
    failed = 0
    while failed < 50:
        fault = f"0:{failed + 1} in setting up the operator"
        result = subprocess.run([sys.executable, "-c", SET_UP_THAT_FAILS], capture_output=True, text=True, timeout=180,
                                env={**os.environ, "STAGHORN_FAIL_MPI": fault, "PYTHONPATH": package})
        assert result.returncode == 0, result.stderr
        *failure, answer = result.stdout.splitlines()
        assert answer == "certified True"
        if not failure:
            break
        assert failure[0].startswith("mpi MPI_")
        failed += 1
    assert 2 <= failed < 50  # one call of each operator at least
