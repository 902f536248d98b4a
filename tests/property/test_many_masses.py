"""Multi-shift CG: many masses by the iterations of the smallest, each as good as a solve of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from solve_files import solution_bytes
from staghorn import reference

staghorn = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
MASSES = [0.2, 0.05, 0.6, 0.1]  # in no order
SHIPPED = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=71)


@pytest.fixture(scope="module")
def session(links):
    return staghorn.Session(links, order="lex", sloppy="none")


@pytest.mark.parametrize("system", ["even", "odd"])
def test_every_mass_stops_where_its_own_solve_does(session, system):
    b = reference.random_vector(EXTENTS, 72)
    x, report = session.solve(None, b, masses=MASSES, system=system)
    assert x.shape == (4, *b.shape) and report["outcome"] == "certified" and report["masses"] == MASSES
    assert report["multi_shift"] == {
        "iterations": max(rhs["iterations"] for rhs in report["rhs"]), "sloppy_iterations": 0, "columns": 1,
        "precision": "fp64"}
    for mass, x_of_mass, rhs in zip(MASSES, x, report["rhs"]):
        single, one = session.solve(mass, b, system=system)
        assert rhs["mass"] == mass and rhs["residual_true"] <= 1e-10
        assert rhs["iterations"] == rhs["shift_iterations"], "a mass had to be polished"
        assert abs(rhs["iterations"] - one["rhs"][0]["iterations"]) <= 1
        assert np.linalg.norm(x_of_mass - single) <= 3e-10 * np.linalg.norm(single) / mass**2


def test_seed_has_the_bits_of_plain_cg(session):
    b = reference.random_vector(EXTENTS, 73)
    x, _ = session.solve(None, b, masses=MASSES, system="even")
    assert np.array_equal(x[MASSES.index(0.05)], session.solve(0.05, b, system="even")[0])


def test_equal_masses_have_equal_solutions(session):
    b = reference.random_vector(EXTENTS, 74)
    x, _ = session.solve(None, b, masses=[0.3, 0.3], system="even")
    assert np.linalg.norm(x[0] - x[1]) <= 1e-13 * np.linalg.norm(x[0])


@pytest.mark.parametrize("where, columns", [("both parities", 2), ("one parity", 1)])
def test_full_systems_take_one_parity_and_a_column_for_each_half_of_the_source(session, links, where, columns):
    b = np.array([reference.random_vector(EXTENTS, 75), reference.random_vector(EXTENTS, 76)])
    if columns == 1:
        b = np.array([reference.keep_parity(b[i], i) for i in range(2)])
    x, report = session.solve(None, b, masses=MASSES)
    assert report["multi_shift"]["columns"] == 2 * columns and report["outcome"] == "certified"
    assert report["memory_bytes"]["shifted_vectors"] == report["predicted_memory_bytes"]["shifted_vectors"] > 0
    operator = reference.StaggeredOperator(links)
    for k, mass in enumerate(MASSES):
        for i in range(2):
            r = b[i] - operator.m(mass, x[k, i])
            rhs = report["rhs"][2 * k + i]
            assert np.linalg.norm(r) <= 1.001e-10 * np.linalg.norm(b[i])
            assert rhs["shift_iterations"] == rhs["iterations"], "a mass had to be polished"


def test_sources_have_the_bits_that_they_have_alone(session):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (77, 78, 79)])
    together, _ = session.solve(None, b, masses=[0.3, 0.1], system="odd")
    for i in range(3):
        alone, _ = session.solve(None, b[i], masses=[0.3, 0.1], system="odd")
        assert np.array_equal(together[:, i], alone)


def test_fp32_reaches_the_tolerance_by_polishing(links):
    session = staghorn.Session(links, order="lex", precision="fp32")
    _, report = session.solve(None, reference.random_vector(EXTENTS, 80), masses=[0.3, 0.1], tolerance=1e-9)
    assert report["outcome"] == "certified" and all(rhs["shift_iterations"] < rhs["iterations"] for rhs in report["rhs"])


@pytest.mark.parametrize("system, columns", [("even", 2), ("full", 4)])
@pytest.mark.parametrize("masses", [MASSES, [0.22, 0.2, 0.24, 0.21, 0.23]], ids=["apart", "close"])
def test_mixed_precision_reaches_the_tolerance_of_fp64(links, masses, system, columns):
    """Shifts of masses far apart soon go on in fp32, and the smallest mass is polished for about the iterations that it would have
    had to go. Those of close masses go on in fp32 late, and leave next to nothing to polish. In all each takes about the
    iterations of a solve of its own."""
    session = staghorn.Session(links, order="lex", sloppy="fp32", sloppy_links=18)
    precise = staghorn.Session(links, order="lex")
    b = np.array([reference.random_vector(EXTENTS, 83), reference.random_vector(EXTENTS, 84)])
    x, report = session.solve(None, b, masses=masses, system=system)
    assert report["outcome"] == "certified"
    shifts, close = report["multi_shift"], masses is not MASSES
    assert shifts["precision"] == "fp64" and shifts["columns"] == columns
    share = shifts["sloppy_iterations"] / shifts["iterations"]
    assert 0.3 < share < 0.8 if close else 0.8 < share < 1
    taken, predicted = (report[memory]["shifted_vectors"] for memory in ("memory_bytes", "predicted_memory_bytes"))
    assert 0 < taken <= predicted <= 1.05 * taken
    for k, mass in enumerate(masses):
        exact, single = precise.solve(mass, b, system=system)
        assert np.linalg.norm(x[k] - exact) <= 3e-10 * np.linalg.norm(exact) / mass**2
        for rhs, alone in zip(report["rhs"][2 * k:2 * k + 2], single["rhs"]):
            assert rhs["residual_true"] <= 1e-10
            assert rhs["iterations"] <= 1.15 * alone["iterations"] + 10
            polished = rhs["iterations"] - rhs["shift_iterations"]
            if close:
                assert polished <= 10
            elif mass == min(masses):
                assert polished >= 0.3 * rhs["iterations"]


def test_shifts_run_in_fp64_where_fp32_would_exhaust_the_spectrum():
    """At 0.001 the shipped configuration takes 7340 iterations in fp64/fp32 and 3029 in fp64."""
    session = staghorn.Session(SHIPPED, sloppy="fp32")
    _, report = session.solve(None, "z2:1", masses=[0.001, 0.01], system="even")
    assert report["outcome"] == "certified" and report["multi_shift"]["precision"] == "fp64"
    assert report["multi_shift"]["sloppy_iterations"] == 0
    assert max(rhs["iterations"] for rhs in report["rhs"]) <= 3029 * 1.01
    _, report = session.solve(None, "z2:1", masses=[0.01, 0.02, 0.05, 0.1], system="even")
    assert report["outcome"] == "certified" and report["multi_shift"]["sloppy_iterations"] > 0
    assert max(rhs["iterations"] for rhs in report["rhs"]) <= 2437 * 1.15


def test_a_loose_tolerance_leaves_nothing_to_polish(links):
    session = staghorn.Session(links, order="lex", sloppy="fp32")
    _, report = session.solve(None, reference.random_vector(EXTENTS, 86), masses=[0.2, 0.21, 0.22, 0.23], tolerance=1e-4)
    assert report["outcome"] == "certified"
    assert report["multi_shift"]["sloppy_iterations"] > 0.5 * report["multi_shift"]["iterations"]
    assert all(rhs["iterations"] - rhs["shift_iterations"] <= 1 for rhs in report["rhs"])


def test_out_of_iterations_is_told_of_every_mass(session):
    b = reference.random_vector(EXTENTS, 81)
    _, report = session.solve(None, b, masses=[0.05, 5], system="even", max_iterations=20)
    assert [rhs["outcome"] for rhs in report["rhs"]] == ["out_of_iterations", "certified"]
    assert report["outcome"] == "out_of_iterations" and report["rhs"][0]["iterations"] == 20


def test_hisq_quarks_have_many_masses_too(links):
    session = staghorn.Session(links, order="lex", action="hisq")
    b = reference.random_vector(EXTENTS, 82)
    x, report = session.solve(None, b, masses=[0.4, 0.2])
    assert report["outcome"] == "certified"
    single, _ = session.solve(0.4, b)
    assert np.linalg.norm(x[0] - single) <= 1e-9 * np.linalg.norm(single)


def test_masses_of_several_epsilons_have_the_bits_of_links_of_each(links):
    b = reference.random_vector(EXTENTS, 85)
    session = staghorn.Session(links, order="lex", action="hisq", naik_epsilon=-0.1, keep_thin_links=True)
    before, _ = session.solve(0.4, b)
    x, report = session.solve(None, b, masses=["0.9:-0.3", "0.4", "0.7:0", "0.5:-0.3", "0.3:-0.1"])
    assert report["outcome"] == "certified" and report["masses"] == [0.9, 0.4, 0.7, 0.5, 0.3]
    assert [rhs["naik_epsilon"] for rhs in report["rhs"]] == [-0.3, -0.1, 0, -0.3, -0.1]
    groups = report["multi_shift"]["groups"]
    assert [(group["naik_epsilon"], group["masses"]) for group in groups] == [(-0.1, [0.4, 0.3]), (-0.3, [0.9, 0.5]), (0, [0.7])]
    assert report["multi_shift"]["iterations"] == sum(group["iterations"] for group in groups)
    assert report["naik_epsilon"] == -0.1
    for memory in (report["memory_bytes"], report["predicted_memory_bytes"]):
        assert memory["sources_solutions"] == 6 * b.nbytes
    for epsilon, masses, places in [(-0.1, [0.4, 0.3], [1, 4]), (-0.3, [0.9, 0.5], [0, 3]), (0, [0.7], [2])]:
        of_epsilon = staghorn.Session(links, order="lex", action="hisq", naik_epsilon=epsilon)
        expected, alone = of_epsilon.solve(None, b, masses=masses)
        assert np.array_equal(x[places], expected)
        assert [report["rhs"][k]["residual_true"] for k in places] == [rhs["residual_true"] for rhs in alone["rhs"]]
    assert np.array_equal(session.solve(0.4, b)[0], before), "the links are not those of before"


@pytest.mark.parametrize("options, masses, words", [
    ({}, ["0.4:-0.1"], ["masses", "HISQ", "-0.1"]),
    ({"action": "hisq"}, ["0.4:-0.1"], ["masses", "keep_thin_links", "-0.1"]),
    ({"action": "hisq", "keep_thin_links": True}, ["0.4:x"], ["masses", "'x'"]),
    ({"action": "hisq", "keep_thin_links": True}, ["0.4:inf"], ["masses", "finite", "inf"]),
])
def test_epsilons_that_links_cannot_have_are_refused(links, options, masses, words):
    with pytest.raises(staghorn.Error) as error:
        staghorn.Session(links, order="lex", **options).solve(None, reference.random_vector(EXTENTS, 1), masses=masses)
    assert not [word for word in words if word not in str(error.value)], str(error.value)


def test_bits_do_not_depend_on_ranks(staghorn_bits_of):
    assert len({staghorn_bits_of(*how) for how in [(1, "1,1,1,1"), (2, "1,1,2,1"), (4, "2,1,2,1")]}) == 1


def test_bits_in_mixed_precision_and_of_several_epsilons_do_not_depend_on_ranks(staghorn_bits_of):
    how = "0.4,0.7:-0.2,0.9", "--action", "hisq", "--sloppy", "fp32"
    assert staghorn_bits_of(1, "1,1,1,1", *how) == staghorn_bits_of(2, "1,1,2,1", *how)


@pytest.fixture
def staghorn_bits_of(request, tmp_path, small_gauge):
    run = request.getfixturevalue("staghorn")

    def bits(ranks, grid, masses="0.2,0.7", *options):
        output = tmp_path / f"{ranks}.h5"
        run("solve", "--gauge", small_gauge, "--masses", masses, "--source", "z2:3", "--grid", grid, "--output", output,
            *options, ranks=ranks, check=True)
        return solution_bytes(output)

    return bits


def test_eight_masses_on_the_shipped_configuration_take_the_iterations_of_the_smallest():
    """3029 iterations in NumPy, and 13449 of eight single solves."""
    session = staghorn.Session(SHIPPED, sloppy="none")
    masses = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    _, report = session.solve(None, "z2:1", masses=masses, system="even")
    assert report["outcome"] == "certified"
    assert report["multi_shift"]["iterations"] <= 3029 * 1.01
    assert all(rhs["residual_true"] <= 1e-10 and rhs["iterations"] == rhs["shift_iterations"] for rhs in report["rhs"])
    for rhs in report["rhs"][5:]:
        one = session.solve(rhs["mass"], "z2:1", system="even")[1]["rhs"][0]
        assert abs(one["iterations"] - rhs["iterations"]) <= 1


@pytest.mark.parametrize("text, words", [
    ("order_MD 1\nres_MD 1\nres_MD 2\npole_MD 99.9\npole_MD -3\n", ["poles above 0"]),
    ("order_MD 2\nres_MD 1\nres_MD 2\npole_MD 99.9\npole_MD 3\n", ["res_MD", "2 lines"]),
    ("res_MD 1\n", ["line 1", "order_MD"]),
    ("order_MD x\n", ["line 1", "'x'"]),
    ("# nothing\n", ["no function"]),
])
def test_rational_files_that_are_wrong_are_refused_with_the_place(session, tmp_path, text, words):
    file = tmp_path / "rational.txt"
    file.write_text(text)
    with pytest.raises(staghorn.Error) as error:
        session.solve(None, "point:0,0,0,0", rational=str(file), system="even")
    assert not [word for word in ["rational.txt", *words] if word not in str(error.value)], str(error.value)


def test_rational_functions_have_the_epsilon_that_their_file_names(links, tmp_path, small_gauge, request):
    """As MILC's files do: a line for each pseudofermion, above its functions."""
    file = tmp_path / "rational.txt"
    function = "order_MD 1\nres_MD 1\nres_MD 2\npole_MD 99.9\npole_MD 0.3\n"
    file.write_text(f"naik_term_epsilon 0\n{function}naik_term_epsilon -0.2\n{function}")
    b = reference.random_vector(EXTENTS, 87)
    session = staghorn.Session(links, order="lex", action="hisq", keep_thin_links=True)
    light, report = session.solve(None, b, rational=f"{file}:MD", system="even")
    assert report["rational"]["naik_epsilon"] == 0 and "groups" not in report["multi_shift"]
    heavy, report = session.solve(None, b, rational=f"{file}:MD:2", system="even")
    assert report["outcome"] == "certified" and report["rational"]["naik_epsilon"] == -0.2
    assert [group["naik_epsilon"] for group in report["multi_shift"]["groups"]] == [-0.2]
    own, _ = staghorn.Session(links, order="lex", action="hisq", naik_epsilon=-0.2).solve(None, b, rational=f"{file}:MD:2", system="even")
    assert np.array_equal(heavy, own) and not np.array_equal(heavy, light)
    run, outputs = request.getfixturevalue("staghorn"), []
    for name, epsilon in [("made", 0), ("own", -0.2)]:  # the program keeps the thin links that it needs
        outputs.append(tmp_path / f"{name}.h5")
        run("solve", "--gauge", small_gauge, "--action", "hisq", "--naik-epsilon", epsilon, "--rational", f"{file}:MD:2",
            "--system", "even", "--source", "z2:3", "--output", outputs[-1], check=True)
    assert solution_bytes(outputs[0]) == solution_bytes(outputs[1])
    for options, words in [({"action": "hisq"}, "that of the links, 0, or links with `keep_thin_links`, found -0.2"),
                           ({"action": "asqtad"}, "expected 0, for only HISQ links")]:
        with pytest.raises(staghorn.Error, match=f"naik_term_epsilon: .*{words}"):
            staghorn.Session(links, order="lex", **options).solve(None, b, rational=f"{file}:MD:2", system="even")


@pytest.mark.parametrize("options, words", [
    ({"masses": [0.1, -1]}, ["masses", "above 0", "-1"]),
    ({"masses": [0.1] * 34}, ["masses", "at most 33", "34"]),
    ({"masses": [0.1], "guess": []}, ["guess", "masses"]),
    ({"masses": [0.1], "rational": "f"}, ["masses and rational"]),
    ({"masses": [0.1], "recover": True}, ["recover", "a single"]),
    ({"rational": "f"}, ["rational", "even or odd"]),
    ({"masses": [0.1], "rational_parts": True}, ["rational_parts"]),
])
def test_requests_that_make_no_sense_are_refused(session, options, words):
    with pytest.raises(staghorn.Error) as error:
        session.solve(None, reference.random_vector(EXTENTS, 1), **options)
    assert not [word for word in words if word not in str(error.value)], str(error.value)


def test_block_cg_of_several_masses_is_refused(links):
    with pytest.raises(staghorn.Error, match="solver: expected another one with several masses, found block"):
        staghorn.Session(links, order="lex", solver="block").solve(None, reference.random_vector(EXTENTS, 1), masses=MASSES)
