"""Context and Gauge: arrays of any order and library in and out without copies, judged by NumPy, with errors that name options."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest
import staghorn as sh
from staghorn import improved_reference, reference
from staghorn.reference import StaggeredOperator

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 2, 8)
MASS = 0.5


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=71)


@pytest.fixture(scope="module")
def operator(links):
    return StaggeredOperator(links)


@pytest.fixture(scope="module")
def gauge(links):
    return sh.Context(EXTENTS, device="cpu").gauge(links)


@pytest.fixture(scope="module")
def b():
    return reference.random_vector(EXTENTS, 72)


def even_odd(v: np.ndarray, sites: int = 4) -> np.ndarray:
    """PyQUDA's order: the axes [T, Z, Y, X] in front become [2, T, Z, Y, X/2], even sites first."""
    even = np.broadcast_to((reference.parity(EXTENTS) == 0).reshape(*v.shape[:4], *(1,) * (v.ndim - 4)), v.shape)
    shape = (*v.shape[:3], v.shape[3] // 2, *v.shape[4:])
    return np.stack([v[even].reshape(shape), v[~even].reshape(shape)])


def test_even_odd_of_the_tests_is_that_of_pyquda():
    """The place of a site in a row is x / 2, rounded down."""
    x = np.broadcast_to(np.arange(EXTENTS[0]), reference.parity(EXTENTS).shape).copy()
    assert np.array_equal(even_odd(x)[0, 0, 0, :2], [[0, 2], [1, 3]])


# --- solves -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["full", "even", "odd"])
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_solution_satisfies_the_equation(gauge, operator, b, system, leading):
    sources = np.empty((*leading, *b.shape), b.dtype)
    for k in np.ndindex(*leading):
        sources[k] = (1 + sum(k)) * b
        sources[k][0, 0, 0, 0, 0] += 1j
    x, report = gauge.solve(MASS, sources, system=system, tolerance=1e-11)
    assert x.shape == sources.shape and x.dtype == sources.dtype
    assert report.certified and len(report.rhs) == max(1, np.prod(leading, dtype=int))
    for k, rhs in zip(np.ndindex(*leading), report.rhs):
        keep = (lambda v: v) if system == "full" else lambda v: reference.keep_parity(v, ["even", "odd"].index(system))
        source = keep(sources[k])
        image = operator.m(MASS, x[k]) if system == "full" else operator.a(MASS, x[k])
        residual = np.linalg.norm(source - keep(image)) / np.linalg.norm(source)
        assert residual <= 1.001e-11 and rhs.residual_true == pytest.approx(residual, rel=1e-2)
        assert np.array_equal(x[k], keep(x[k]))  # the other parity is zero


def test_solution_has_the_bits_of_a_session(links, gauge, b):
    x, report = gauge.solve(MASS, b)
    same, other = sh.Session(links).solve(MASS, b)
    assert np.array_equal(x, same)
    assert report.rhs[0].history == other["rhs"][0]["history"]
    assert sh.Report.from_dict(other).rhs[0].residual_true == report.rhs[0].residual_true


def test_arrays_as_pyquda_has_them_give_the_same_bits(links, gauge, b):
    lexicographic, _ = gauge.solve(MASS, b)
    by_direction = np.ascontiguousarray(np.moveaxis(even_odd(links), 5, 0))
    assert by_direction.shape == (4, 2, *EXTENTS[:0:-1], EXTENTS[0] // 2, 3, 3)
    context = sh.Context(EXTENTS)
    for order, array in (("qdp", by_direction), ("even-odd-x", even_odd(links))):
        other = context.gauge(array, order=order)
        assert other.info.hash == gauge.info.hash
        assert np.array_equal(other.solve(MASS, even_odd(b), order="even-odd-x")[0], even_odd(lexicographic))
        assert np.array_equal(other.solve(MASS, b)[0], lexicographic)
    assert np.array_equal(gauge.hop(even_odd(b), order="even-odd-x"), even_odd(gauge.hop(b)))


@pytest.mark.parametrize("parity, system", [(0, "even"), (1, "odd")])
def test_a_half_holds_the_sites_of_its_parity(gauge, b, parity, system):
    whole, _ = gauge.solve(MASS, b, system=system)
    half, report = gauge.solve(MASS, np.ascontiguousarray(even_odd(b)[parity]), system=system, order="half")
    assert report.system == system and np.array_equal(half, even_odd(whole)[parity])
    other = np.ascontiguousarray(even_odd(b)[1 - parity])
    assert np.array_equal(gauge.hop(other, target=system, order="half"), even_odd(gauge.hop(b))[parity])


def test_single_precision_arrays_are_solved_in_double(gauge, operator, b):
    small = b.astype(np.complex64)
    x, report = gauge.solve(MASS, small, tolerance=1e-10)
    assert x.dtype == np.complex64 and report.certified and report.precision == "fp64"
    same, _ = gauge.solve(MASS, small.astype(complex), tolerance=1e-10)
    assert np.array_equal(x, same.astype(np.complex64))


def test_mixed_precision_is_asked_for_by_name(gauge, b):
    x, report = gauge.solve(MASS, b, sloppy="fp16", sloppy_links=8, tolerance=1e-12)
    assert report.certified and report.rhs[0].updates and (report.sloppy, report.sloppy_links) == ("fp16", 8)
    assert np.allclose(x, gauge.solve(MASS, b)[0], rtol=0, atol=1e-9)


def test_options_of_the_program_are_taken_by_their_names(gauge, b, tmp_path):
    """A solve that was stopped goes on from its checkpoint; three sources share directions."""
    whole, report = gauge.solve(0.05, b)
    state = tmp_path / "state.h5"
    _, stopped = gauge.solve(0.05, b, checkpoint=state, checkpoint_every=1e-9, progress=lambda iteration, ratio: iteration >= 100)
    assert stopped.outcome == "stopped" and state.is_file()
    x, resumed = gauge.solve(0.05, b, checkpoint=state, resume=True)
    assert np.array_equal(x, whole) and resumed.rhs[0].history == report.rhs[0].history
    assert gauge.solve(MASS, np.stack([b, 2 * b, b[::-1].copy()]), solver="block")[1].solver == "block"
    assert gauge.solve(MASS, b, preconditioner="chebyshev:3")[1].solver == "flexible"
    assert gauge.solve(MASS, b)[1].solver == "mixed" and gauge.solve(MASS, b, sloppy="none")[1].solver == "cg"
    assert gauge.multishift([0.0, 0.5], b, mass=MASS, deflate=False)[1].certified
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerence'. Did you mean 'tolerance'"):
        gauge.solve(MASS, b, tolerence=1e-5)


def test_result_goes_where_it_is_asked_for(gauge, operator, b):
    x, dx = np.full_like(b, 7), np.full_like(b, 7)
    result, _ = gauge.solve(MASS, b, out=x, dx=dx)
    assert result is x and np.array_equal(x, gauge.solve(MASS, b)[0])
    assert np.allclose(dx, operator.d(x), rtol=0, atol=1e-14)
    odd, kept = reference.parity(EXTENTS) == 1, np.full_like(b, 7)
    gauge.solve(MASS, b, system="even", out=kept)
    assert (kept[odd] == 7).all() and (kept[~odd] != 7).all()
    again, report = gauge.solve(MASS, b, out=x, guess=True)
    assert again is x and report.iterations == 0


def test_source_stays_as_it_is(gauge, b):
    before = b.copy()
    b.flags.writeable = False
    gauge.solve(MASS, b)
    gauge.hop(b)
    assert np.array_equal(b, before)


def test_outputs_that_share_memory_are_refused(gauge, b):
    room, many = np.zeros((3, *b.shape), b.dtype), np.stack([b, b, b])
    flat = np.zeros(2 * b.size, b.dtype)
    behind = flat[b.size - 1 : 2 * b.size - 1].reshape(b.shape)
    same = {"out": room[0], "dx": room[0]}
    for call, words in [(lambda: gauge.solve(MASS, b, **same), r"dx\[0\]: expected memory of its own, .* found bytes of out\[0\]"),
                        (lambda: gauge.solve(MASS, b, out=flat[: b.size].reshape(b.shape), dx=behind), r"dx\[0\]: .* out\[0\]"),
                        (lambda: gauge.solve(MASS, many, out=room, dx=room[:]), r"dx\[0\]: .* out\[0\]"),
                        (lambda: gauge.solve(MASS, many[:2], out=many[1:]), r"out\[0\]: .* source\[1\]"),
                        (lambda: gauge.solve(MASS, room[1], out=room[1], guess=True), r"out\[0\]: .* source\[0\]"),
                        (lambda: gauge.hop(room[2], out=room[2]), r"out\[0\]: .* source\[0\]"),
                        (lambda: gauge.multishift([0.0, 0.1], room[1], mass=0.3, out=room[:2]), r"out\[1\]: .* source")]:
        with pytest.raises(sh.Error, match=f"^{words}") as found:
            call()
        assert found.value.kind == "argument"
    assert not room.any() and not flat.any() and np.array_equal(many[1], b)


class OfAnotherLibrary:
    """The memory of a NumPy array, through DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **how):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_of_two_libraries_share_memory_too(gauge, b):
    x, source = np.zeros_like(b), b.copy()
    with pytest.raises(sh.Error, match=r"^dx\[0\]: .* out\[0\]"):
        gauge.solve(MASS, source, out=x, dx=OfAnotherLibrary(x))
    with pytest.raises(sh.Error, match=r"^out\[0\]: .* source\[0\]"):
        gauge.solve(MASS, source, out=OfAnotherLibrary(source))
    assert not x.any() and gauge.solve(MASS, source, out=OfAnotherLibrary(x))[1].certified and x.any()


def test_parities_of_one_array_share_nothing(gauge, b):
    both = np.zeros_like(b)
    x, _ = gauge.solve(MASS, b, system="even", out=both, dx=both)
    alone, _ = gauge.solve(MASS, b, system="even")
    assert np.array_equal(x, alone + gauge.hop(alone, target="odd"))
    there = alone.copy()
    assert np.array_equal(gauge.hop(there, target="odd", out=there), x)  # from even sites to odd ones, in one array


def test_hop_is_that_of_the_reference(gauge, operator, b):
    assert np.allclose(gauge.hop(b), operator.d(b), rtol=0, atol=1e-13)
    even = gauge.hop(b, target="even")
    assert np.array_equal(even, reference.keep_parity(gauge.hop(b), 0))


def test_sign_and_halving_are_conventions(gauge, b):
    x, _ = gauge.solve(MASS, b)
    assert np.array_equal(gauge.solve(MASS, b, halved=True)[0], 2 * x)
    minus, _ = gauge.solve(MASS, b, sign=-1)
    assert np.linalg.norm(2 * MASS * minus - gauge.hop(minus) - b) < 1.001e-10 * np.linalg.norm(b)


# --- several masses at once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["full", "even"])
def test_shifts_are_solved_together(gauge, operator, b, system):
    shifts, mass = [0.0, 0.3, 1.0], 0.3
    x, report = gauge.multishift(shifts, b, mass=mass, system=system, tolerance=[1e-10, 1e-11, 1e-9])
    assert x.shape == (3, *b.shape) and report.certified and len(report.rhs) == 3
    for k, shift in enumerate(shifts):
        if system == "full":
            r = b - operator.m(np.sqrt(mass**2 + shift / 4), x[k])
        else:
            r = reference.keep_parity(b - operator.a(mass, x[k]) - shift * x[k], 0)
            b_norm = np.linalg.norm(reference.keep_parity(b, 0))
        residual = np.linalg.norm(r) / (np.linalg.norm(b) if system == "full" else b_norm)
        assert residual <= 1.001 * [1e-10, 1e-11, 1e-9][k]
        assert report.rhs[k].residual_true == pytest.approx(residual, rel=1e-2)
    out = np.empty_like(x)
    assert gauge.multishift(shifts, b, mass=mass, system=system, tolerance=[1e-10, 1e-11, 1e-9], out=out)[0] is out
    assert np.array_equal(out, x) or system == "even"


def test_shifts_that_make_no_sense_are_refused(gauge, b):
    for arguments, words in [({"shifts": []}, "at least one shift"), ({"tolerance": [1e-8]}, "^tolerance: expected one number, or 2"),
                             ({"source": np.stack([b, b])}, "expected one vector"), ({"shifts": [0.0, -9.0]}, "shift"),
                             ({"out": np.stack([b])}, "^out: expected an axis of 2 shifts")]:
        with pytest.raises(sh.Error, match=words):
            gauge.multishift(**{"shifts": [0.0, 0.1], "source": b, "mass": 0.3, **arguments})


# --- gauges -----------------------------------------------------------------------------------------------------


def test_links_are_updated_in_place(links, b):
    gauge = sh.Context(EXTENTS).gauge(links, version=1)
    first, _ = gauge.solve(MASS, b)
    others = reference.random_links(EXTENTS, seed=73)
    gauge.update(others, version=1)  # the caller says that nothing changed
    assert gauge.info.loads == 1 and np.array_equal(gauge.solve(MASS, b)[0], first)
    gauge.update(others, version=2)
    assert gauge.info.loads == 2 and not np.array_equal(gauge.solve(MASS, b)[0], first)
    gauge.update(links)
    assert np.array_equal(gauge.solve(MASS, b)[0], first)


def test_boundary_is_that_of_the_reference(links, b):
    context = sh.Context(EXTENTS)
    for boundary, theta in (("periodic", (0, 0, 0, 0)), ((0.5, 0, 0, 1), (0.5, 0, 0, 1))):
        expected = StaggeredOperator(links, boundary=theta).d(b)
        assert np.allclose(context.gauge(links, boundary=boundary).hop(b), expected, rtol=0, atol=1e-13)


def test_a_gauge_file_is_read_as_by_a_session(small_gauge):
    context = sh.Context(small_gauge, device="cpu")
    assert context.lattice == (4, 6, 8, 10) == context.local and context.origin == (0, 0, 0, 0) and context.grid == (1, 1, 1, 1)
    assert context.device == "cpu"
    assert np.array_equal(context.read_links(small_gauge), sh.read_gauge(small_gauge)[0])
    assert context.read(small_gauge).info.plaquette == pytest.approx(sh.Session(small_gauge).gauge["plaquette"], abs=1e-15)


def test_a_file_of_another_lattice_or_damaged_is_refused(small_gauge, tmp_path):
    with pytest.raises(sh.Error, match="lattice: expected 4x4x4x4, found 4x6x8x10"):
        sh.Context((4, 4, 4, 4)).read(small_gauge)
    with pytest.raises(sh.Error, match="no_such_file"):
        sh.Context("no_such_file")
    whole = Path(__file__).parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
    damaged = tmp_path / "damaged.nersc"
    damaged.write_bytes(whole.read_bytes()[:-1] + bytes([whole.read_bytes()[-1] ^ 1]))
    with pytest.raises(sh.Error, match="damaged.nersc is damaged .*`verify=False` reads it"):
        sh.Context(damaged).read(damaged)
    assert sh.Context(damaged).read(damaged, verify=False).info.loads == 1


# --- improved quarks --------------------------------------------------------------------------------------------

BIG = (4, 6, 8, 4)


@pytest.fixture(scope="module")
def improved():
    """Thin links near 1, and the fat and long ones of asqtad that NumPy makes of them."""
    thin = improved_reference.unitary_projection(np.eye(3) + 0.2 * reference.random_links(BIG, seed=75), su3=True)
    return thin, *map(np.ascontiguousarray, improved_reference.asqtad_links(thin, u0=0.9))


def test_links_that_the_library_makes_are_those_of_the_reference(improved):
    thin, fat, long = improved
    context, v = sh.Context(BIG), reference.random_vector(BIG, 76)
    made = context.gauge(thin, action="asqtad", u0=0.9)
    given = context.gauge(fat, naik=long)
    assert not made.info.naive and given.info.coefficient == pytest.approx(made.info.coefficient, rel=1e-12)
    expected = improved_reference.ImprovedOperator(fat, long).d(v)
    for gauge in (made, given):
        assert np.allclose(gauge.hop(v), expected, rtol=0, atol=1e-12)
    x, report = given.solve(MASS, v, sloppy="fp32")
    assert report.certified and report.to_dict()["action"] != "naive"
    assert np.linalg.norm(v - 2 * MASS * x - given.hop(x)) < 1.001e-10 * np.linalg.norm(v)


def test_improved_links_are_updated_together(improved):
    thin, fat, long = improved
    context, v = sh.Context(BIG), reference.random_vector(BIG, 77)
    gauge = context.gauge(fat, naik=long)
    first = gauge.hop(v)
    gauge.update(np.conj(fat), naik=np.conj(long))
    assert np.array_equal(gauge.hop(v.conj()), first.conj())
    with pytest.raises(sh.Error, match="^naik: expected Naik links where"):
        gauge.update(fat)
    with pytest.raises(sh.Error, match="^naik: expected none with action hisq"):
        context.gauge(thin, naik=long, action="hisq")
    with pytest.raises(sh.Error, match="^action: expected naive, asqtad or hisq"):
        context.gauge(thin, action="wilson")
    with pytest.raises(sh.Error, match="^naik: expected shape"):
        context.gauge(fat, naik=long[:1])


# --- what is refused --------------------------------------------------------------------------------------------

BAD_SOLVES = [
    ({"mass": 0.0}, "^mass: expected a number above 0"),
    ({"mass": 1e-16}, "^mass: expected at least 1e-15"),
    ({"mass": 1e16}, "^mass: expected at most 1e15"),
    ({"mass": float("nan")}, "^mass: expected a number above 0 .* found nan"),
    ({"system": "all"}, "^system: expected full, even or odd, found 'all'"),
    ({"order": "xyzt"}, "^order: expected lex, even-odd.* found 'xyzt'"),
    ({"order": "even-odd-x"}, r"^source: expected shape \(..., 2, 8, 2, 6, 2, 3\)"),
    ({"precision": "fp8"}, "^precision: expected fp64 or fp32, found 'fp8'"),
    ({"sloppy": "fp8"}, "^sloppy: expected"),
    ({"sloppy": "fp32", "sloppy_links": 9}, "^sloppy_links: expected .*18, 12 or 8.* found '9'"),
    ({"stop": "never"}, "^stop: expected system or parity"),
    ({"phases": "quda"}, "^phases: expected none, cps, milc"),
    ({"tolerance": -1.0}, "^tolerance: "),
    ({"max_iterations": -1}, "^max_iterations: "),
    ({"chronological": 99}, "^chronological: "),
    ({"sign": 2}, r"^sign: expected \+1 or -1, found 2"),
    ({"guess": True}, "^guess: expected the guess in `out`"),
    ({"boundary": (0, 0, 0, 0)}, "^boundary: expected it in the structs of context and gauge"),
    ({"masses": [0.1, 0.2]}, "^mass: expected a number, or None with `masses` or `rational`, found mass and masses"),
    ({"checkpoint_every": "often"}, "^checkpoint_every: expected a number"),
    ({"source": lambda b: b[..., :2]}, "^source: expected shape"),
    ({"source": lambda b: b.real.copy()}, "^source: expected complex64 or complex128 numbers, found float64"),
    ({"source": lambda b: b.tolist()}, "^source: expected an array of NumPy.* found builtins.list"),
    ({"source": lambda b: b[::-1]}, "^source: expected an array without gaps"),
    ({"source": lambda b: np.asfortranarray(b)}, "^source: expected an array without gaps"),
    ({"source": lambda b: np.where(b == b.flat[0], np.nan, b)}, "nan|NaN|finite"),
    ({"source": lambda b: np.stack([b] * 65)}, "^n: expected 1 to 64, found 65"),
    ({"source": lambda b: b.astype(">c16")}, "^source: expected an array whose memory can be used as it is"),
    ({"out": lambda b: b[0]}, "^out: expected shape"),
    ({"out": lambda b: b.astype(np.complex64)}, "^out: expected the precision of source"),
    ({"out": lambda b: np.broadcast_to(b, b.shape)}, "^out: expected an array that can be changed"),
    ({"dx": lambda b: np.stack([b, b])}, "^dx: expected the leading axes of source"),
]


@pytest.mark.parametrize("bad, words", BAD_SOLVES, ids=lambda value: "-".join(value) if isinstance(value, dict) else None)
def test_what_makes_no_sense_is_refused_by_name(gauge, b, bad, words):
    arguments = {"mass": MASS, "source": b, **{name: value(b.copy()) if callable(value) else value for name, value in bad.items()}}
    with pytest.raises(sh.Error, match=words):
        gauge.solve(arguments.pop("mass"), arguments.pop("source"), **arguments)


BAD_CONTEXTS = [
    ({"lattice": (4, 4, 4)}, "^lattice: expected four whole numbers"),
    ({"lattice": (4, 4, 4, 5)}, "even"),
    ({"grid": (2, 1, 1, 1)}, "^grid"),
    ({"device": "tpu"}, "^device: expected auto, cpu"),
    ({"certificate": "none"}, "^certificate: expected auto, host or device"),
    ({"certificate": "device", "device": "cpu"}, "^certificate: expected AUTO or HOST where a rank computes on the CPU"),
    ({"threads": -1}, "^threads: expected 0 to"),
    ({"stream": 7, "device": "cpu"}, "^stream: expected NULL where a rank computes on the CPU"),
    ({"comm": "world"}, "^comm: expected a communicator of mpi4py, found builtins.str"),
]


@pytest.mark.parametrize("bad, words", BAD_CONTEXTS, ids=lambda value: "-".join(value) if isinstance(value, dict) else None)
def test_a_context_that_makes_no_sense_is_refused_by_name(bad, words):
    with pytest.raises(sh.Error, match=words):
        sh.Context(**{"lattice": EXTENTS, **bad})


BAD_LINKS = [
    ({"array": lambda u: u[..., :2]}, "^links: expected shape"),
    ({"array": lambda u: np.stack([u, u])}, "^links: expected shape"),
    ({"array": lambda u: 1.1 * u}, r"SU\(3\)|unitar"),
    ({"boundary": "open"}, "^boundary: expected antiperiodic, periodic or four numbers"),
    ({"boundary": (0, 1)}, "^boundary: expected four numbers"),
    ({"boundary": (0, 0, 0, 1e17)}, "^boundary: expected phases of size up to 1048576"),
    ({"scale": (1, 1, 1, 0)}, "^scale: expected numbers that are not 0"),
    ({"links": 9}, "^links: expected .*18, 12 or 8"),
    ({"phases": "milk"}, "^phases: expected none"),
]


@pytest.mark.parametrize("bad, words", BAD_LINKS, ids=lambda value: "-".join(value) if isinstance(value, dict) else None)
def test_links_that_make_no_sense_are_refused_by_name(links, bad, words):
    array = bad.get("array", lambda u: u)(links)
    with pytest.raises(sh.Error, match=words):
        sh.Context(EXTENTS).gauge(array, **{name: value for name, value in bad.items() if name != "array"})


def test_what_is_closed_is_refused(links, b):
    with sh.Context(EXTENTS) as context:
        gauge = context.gauge(links)
        with pytest.raises(sh.Error, match="^report: expected a solve before"):
            context.report()
    with pytest.raises(sh.Error, match="found one that does not") as raised:
        gauge.solve(MASS, b)
    assert raised.value.kind == "state"
    gauge.close()
    context.close()


def test_running_out_of_iterations_is_a_result(gauge, b):
    x, report = gauge.solve(0.01, b, max_iterations=3)
    assert report.outcome == "out_of_iterations" and not report.certified and report.explanation
    assert report.iterations == 3 and x.any() and "out_of_iterations" in str(report)
    whole = gauge.solve(0.01, b)[1]
    assert whole.certified and whole.max_iterations is None and whole.rhs[0].iterations_more is None
    half = gauge.solve(0.01, b, max_iterations=whole.iterations // 2)[1].rhs[0]
    # |r| falls by a factor of e in sqrt(kappa) / 2 iterations at most, and |D| <= 8.
    assert whole.iterations / 6 < half.iterations_more < 8 / 0.02 / 2 * np.log(half.residual_true / 1e-10)


# --- progress ---------------------------------------------------------------------------------------------------


def test_progress_is_told_and_may_stop(gauge, b):
    seen = []
    gauge.solve(0.05, b, progress=lambda iteration, ratio: seen.append((iteration, ratio)))
    iterations, ratios = zip(*seen)
    assert list(iterations) == sorted(set(iterations)) and len(seen) > 3 and ratios[0] > ratios[-1] > 0
    _, report = gauge.solve(0.05, b, progress=lambda iteration, ratio: iteration >= 20)
    assert report.outcome == "stopped" == report.rhs[0].outcome and report.iterations == 20


def test_an_error_in_progress_ends_the_solve_and_is_raised(gauge, b):
    def fails(iteration, ratio):
        raise ZeroDivisionError("of the caller")

    with pytest.raises(ZeroDivisionError, match="of the caller"):
        gauge.solve(0.05, b, progress=fails)
    assert gauge.solve(MASS, b)[1].certified


@pytest.fixture
def interrupts():
    """Python's own answer to SIGINT, which a shell tells what runs in its background to ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_a_solve(interrupts):
    """A solve of many seconds (486 calls), interrupted at once: one that does not hear it calls its progress to the end."""
    extents, calls = (8, 8, 8, 8), []
    gauge = sh.Context(extents).gauge(reference.random_links(extents, seed=73))
    b = np.stack([reference.random_vector(extents, 74)] * 64)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gauge.solve(1e-7, b, max_iterations=6400, tolerance=1e-15, progress=lambda *at: calls.append(at))
    timer.join()
    assert len(calls) < 6400 // 16
    assert gauge.solve(MASS, b[0])[1].certified


def test_another_solve_within_progress_is_refused(gauge, b):
    def nested(iteration, ratio):
        gauge.solve(MASS, b)

    with pytest.raises(sh.Error, match="one call at a time"):
        gauge.solve(0.05, b, progress=nested)


def test_a_line_of_progress_is_written_over_in_a_notebook(gauge, b, monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    gauge.solve(0.05, b, progress=True)
    assert capsys.readouterr() == ("", "")  # no terminal, no notebook
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    _, report = gauge.solve(0.05, b, progress=True)
    assert shown[0].startswith("iteration 10, residual ") and shown[0].endswith(" %")
    assert shown[-1] == str(report) and len(shown) >= 2


# --- arrays of other libraries ----------------------------------------------------------------------------------


class Exported:
    """An array of an unknown library, which exports its memory by DLPack and is no NumPy array."""

    def __init__(self, array):
        self.array, self.exports = array, 0

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.exports += 1
        return self.array.__dlpack__(**options)


def test_memory_comes_through_dlpack(links, gauge, b):
    source, out = Exported(b.copy()), Exported(np.zeros_like(b))
    x, report = sh.Context(EXTENTS).gauge(Exported(links)).solve(MASS, source, out=out)
    assert x is out and source.exports == out.exports == 1 and report.certified
    assert np.array_equal(out.array, gauge.solve(MASS, b)[0])
    with pytest.raises(sh.Error, match="^out: expected an array for the result"):
        gauge.solve(MASS, source)


def test_memory_of_a_gpu_is_refused_on_the_cpu(gauge, b):
    class OnGpu:
        def __init__(self, stream):
            self.__cuda_array_interface__ = {"version": 3, "shape": b.shape, "typestr": "<c16", "data": (256, False),
                                             "strides": None, "stream": stream}

    with pytest.raises(sh.Error, match="memory of the host, for a rank of this context computes on the CPU"):
        gauge.solve(MASS, OnGpu(None), out=OnGpu(None))
    with pytest.raises(sh.Error, match="^source: .* stream 1 of the context, found stream 5"):
        gauge.solve(MASS, OnGpu(5), out=OnGpu(None))


# --- reports ----------------------------------------------------------------------------------------------------


def test_a_report_has_types_and_goes_to_json_and_back(gauge, b, tmp_path):
    _, report = gauge.solve(MASS, b)
    assert gauge.context.report().rhs[0].norm2 == report.rhs[0].norm2
    assert report.lattice == EXTENTS and report.seconds["solve"] > 0 and report.spectrum.smallest >= 4 * MASS**2
    assert report.rhs[0].residual_parity is None, "a full system has none of its own"
    _, even = gauge.solve(MASS, b, system="even")
    assert even.rhs[0].residual_parity == even.rhs[0].residual_true > 0
    _, stopped = gauge.solve(MASS, b, stop="parity")
    assert 0 < stopped.rhs[0].residual_parity != stopped.rhs[0].residual_true
    as_dict = report.to_dict()
    as_dict["rhs"][0]["residual_true"] = 0  # a copy
    assert report.to_dict()["rhs"][0]["residual_true"] == report.rhs[0].residual_true > 0
    (tmp_path / "report.json").write_text(report.to_json())
    assert sh.Report.read(tmp_path / "report.json") == report


def test_a_gauge_reads_eigenpairs_and_deflates_with_them(links, b, tmp_path):
    gauge = sh.Context(EXTENTS, device="cpu").gauge(links)
    plain, before = gauge.solve(0.01, b)
    told: list[tuple[int, float]] = []
    values, _, found = gauge.eigen(12, output=tmp_path / "e.h5", vectors=False, progress=lambda *at: told.append(at))
    assert found["outcome"] == "certified" and len(values) == 12
    assert [calls for calls, _ in told] == sorted(calls for calls, _ in told) and told[0][1] == 12 and told[-1][0] <= found["calls"]
    assert np.array_equal(gauge.solve(0.01, b)[0], plain), "those that were found are not kept"
    gauge.read_eigenpairs(tmp_path / "e.h5")
    deflated, after = gauge.solve(0.01, b)
    assert after["deflation"]["pairs"] == 12 and after.iterations < before.iterations and after.certified
    assert np.abs(deflated - plain).max() < 1e-6 and np.array_equal(gauge.solve(0.01, b, deflate=False)[0], plain)
    other = sh.Context(EXTENTS, device="cpu").gauge(reference.random_links(EXTENTS, seed=73))
    with pytest.raises(sh.Error, match="e.h5"):
        other.read_eigenpairs(tmp_path / "e.h5")
    # A context finds and writes those that are not there.
    made = sh.Context(EXTENTS, device="cpu").gauge(links, eigenvectors=tmp_path / "f.h5", eigenpairs=12)
    assert np.array_equal(made.solve(0.01, b)[0], deflated) and (tmp_path / "f.h5").exists()
