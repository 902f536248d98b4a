"""Many sources that take turns in a batch: each has the solution that it would have alone, whatever the others are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from solve_files import solution_bytes, write_source
from staghorn import reference

staghorn_py = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 8, 10)
SHIPPED = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
SOURCES = ["z2:5", "point:1,2,3,5", "gaussian:6", "even-wall:3", "wall:7", "z2:8"]  # twelve right-hand sides
DATE = {"SOURCE_DATE_EPOCH": "1795199983"}  # files of equal solves are equal to the byte


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=31)


def known(rhs):
    """What each right-hand side came to. `attainable` comes from what all right-hand sides of a batch saw of the spectrum."""
    return [{key: value for key, value in one.items() if key not in ("source", "attainable")} for one in rhs]


def assert_took_turns(report, batch, n=12):
    """The columns were refilled: fewer of them than sources, and all of them at work while sources waited."""
    assert report["batch"]["columns"] == batch < n and report["batch"]["refills"]
    longest = max(rhs["iterations"] for rhs in report["rhs"])
    assert report["batch"]["iterations"] > longest
    used, all_columns = sum(rhs["iterations"] for rhs in report["rhs"]), batch * report["batch"]["iterations"]
    assert report["batch"]["filled"] == pytest.approx(used / all_columns, rel=1e-12)


@pytest.mark.parametrize("batch", [1, 3, 8])
@pytest.mark.parametrize("precision, system, tolerance", [("fp64", "full", 1e-11), ("fp64", "odd", 1e-10), ("fp32", "full", 1e-9)])
def test_sources_that_take_turns_have_the_bits_of_solves_alone(links, precision, system, tolerance, batch):
    session = staghorn_py.Session(links, order="lex", precision=precision, sloppy="none")
    alone = dict(tolerance=tolerance, system=system)
    sources = [name for name in SOURCES if system == "full" or name != "even-wall:3"]
    n_rhs = 12 if system == "full" else 9
    x, report = session.solve(0.2, sources=sources, batch=batch, **alone)
    assert report["outcome"] == "certified" and len(report["rhs"]) == n_rhs
    first = 0
    for name, entry in zip(sources, report["sources"]):
        single, one = session.solve(0.2, name, **alone)
        n = len(single)
        assert entry["name"] == name and (entry["first"], entry["n_rhs"]) == (first, n)
        if precision == "fp64" or n == 1:  # passes of fp32 wait for one another where right-hand sides are one batch
            assert x[first:first + n].tobytes() == single.tobytes()
            assert known(report["rhs"][first:first + n]) == known(one["rhs"])
        if precision == "fp64":
            assert entry["pion_correlator"] == one["pion_correlator"] and entry["condensate"] == one["condensate"]
        assert all(rhs["source"] == name and rhs["residual_true"] <= tolerance for rhs in report["rhs"][first:first + n])
        first += n
    if precision == "fp64":
        assert_took_turns(report, min(batch, n_rhs - 1), n_rhs)


@pytest.mark.parametrize("sloppy", ["fp32", "fp16"])
@pytest.mark.parametrize("links_of, mass", [("random", 0.2), ("random", 2.0), ("shipped", 0.05)])
def test_mixed_precision_does_not_know_who_shares_the_batch(links, sloppy, links_of, mass):
    if links_of == "shipped" and sloppy == "fp16":
        pytest.skip("a case of fp32")
    session = staghorn_py.Session(links if links_of == "random" else SHIPPED, sloppy=sloppy)
    alone, report = session.solve(mass, sources=SOURCES, batch=1)
    assert report["outcome"] == "certified" and report["solver"] == "mixed"
    assert all(len(rhs["updates"]) >= 1 for rhs in report["rhs"])
    for batch in (3, 12):
        x, other = session.solve(mass, sources=SOURCES, batch=batch)
        assert x.tobytes() == alone.tobytes() and other["rhs"] == report["rhs"]
        if batch == 3:
            assert_took_turns(other, batch)
    backwards, _ = session.solve(mass, sources=["z2:8", "wall:7", "z2:5"], batch=2)
    assert backwards[0].tobytes() == alone[11].tobytes() and backwards[4].tobytes() == alone[0].tobytes()
    # Columns begin and are updated after multiples of 16 iterations: a few more than a source alone takes.
    single, one = session.solve(mass, "z2:5")
    assert one["rhs"][0]["iterations"] <= report["rhs"][0]["iterations"] <= one["rhs"][0]["iterations"] + 48
    assert np.linalg.norm(alone[0] - single[0]) <= 1e-8 * np.linalg.norm(single[0])


def test_hundreds_of_updates_leave_the_others_alone():
    session = staghorn_py.Session(SHIPPED, sloppy="fp16", sloppy_links=8)
    asked = dict(sources=["z2:1", "z2:2"], system="even", max_iterations=9000)
    alone, report = session.solve(0.001, batch=1, **asked)
    x, other = session.solve(0.001, batch=2, **asked)
    assert report["outcome"] == "certified" and min(len(rhs["updates"]) for rhs in report["rhs"]) > 100
    assert x.tobytes() == alone.tobytes() and other["rhs"] == report["rhs"]


@pytest.mark.parametrize("sloppy", ["none", "fp32"])
def test_each_source_has_its_own_iterations(links, sloppy):
    session = staghorn_py.Session(links, order="lex", sloppy=sloppy)
    x, report = session.solve(0.01, sources=SOURCES, batch=4, max_iterations=37)
    assert report["outcome"] == "out_of_iterations"
    assert [rhs["iterations"] for rhs in report["rhs"]] == [37] * 12
    single, one = session.solve(0.01, sources=["even-wall:3"], batch=1, max_iterations=37)
    assert x[5:8].tobytes() == single.tobytes() and one["rhs"] == report["rhs"][5:8]


def test_arrays_take_turns_too(links):
    session = staghorn_py.Session(links, order="lex", sloppy="none")
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in range(70)])  # more than one batch may hold
    x, report = session.solve(0.5, b, batch=16)
    assert_took_turns(report, 16, 70)
    for k in (0, 35, 69):
        assert x[k].tobytes() == session.solve(0.5, b[k])[0].tobytes()
    with pytest.raises(staghorn_py.Error, match="at most 64 right-hand sides at once .`batch`"):
        session.solve(0.5, b)


def test_phases_of_milc_are_those_of_each_source(links):
    session = staghorn_py.Session(links, order="lex", sloppy="none")
    x, report = session.solve(0.2, sources=SOURCES[:3], batch=2, phases="milc")
    assert x[0].tobytes() == session.solve(0.2, SOURCES[0], phases="milc")[0].tobytes()
    assert report["sources"][1]["pion_correlator"] == session.solve(0.2, SOURCES[1], phases="milc")[1]["pion_correlator"]


def test_batch_is_nearly_full_while_sources_wait():
    session = staghorn_py.Session(SHIPPED)
    _, report = session.solve(0.1, sources="z2:3", noise_vectors=24, batch=8)
    assert report["batch"]["columns"] == 8 and report["batch"]["filled_while_waiting"] > 0.97


def test_memory_bounds_the_batch_and_not_the_job(links):
    session = staghorn_py.Session(links, order="lex")
    few, many = (session.solve(0.5, sources="z2:3", noise_vectors=n, batch=4)[1] for n in (5, 50))
    for report in (few, many):
        taken = {name: size for name, size in report["memory_bytes"].items() if name != "peak_resident"}
        assert all(size <= report["predicted_memory_bytes"][name] for name, size in taken.items())
    assert few["predicted_memory_bytes"] == many["predicted_memory_bytes"]
    assert few["memory_bytes"]["vectors"] == many["memory_bytes"]["vectors"]


@pytest.fixture
def solve_file(staghorn, small_gauge, tmp_path):
    def run(name, *options, check=False, **how):
        return staghorn("solve", "--gauge", small_gauge, "--mass", 0.2, *options, "--output", tmp_path / f"{name}.h5",
                        "--report", tmp_path / f"{name}.json", env={**DATE, **how.pop("env", {})}, check=check, **how)

    return run


@pytest.mark.mpi
@pytest.mark.parametrize("options", [["--sloppy", "none"], []], ids=["fp64", "mixed"])
def test_files_are_the_same_on_any_ranks(solve_file, tmp_path, options):
    sources = tmp_path / "sources.txt"
    sources.write_text("# twelve right-hand sides\n" + "\n".join(SOURCES) + "\n\n")
    solve_file("one", "--sources", ";".join(SOURCES), "--batch", 3, *options, check=True)
    solve_file("two", "--sources", f"@{sources}", "--batch", 12, *options, check=True, ranks=2, threads=1)
    solve_file("four", "--sources", f"@{sources}", "--batch", 2, "--grid", "2,1,2,1", *options, check=True, ranks=4, threads=1)
    whole = (tmp_path / "one.h5").read_bytes()
    assert whole == (tmp_path / "two.h5").read_bytes() == (tmp_path / "four.h5").read_bytes()
    if options:
        solve_file("alone", "--source", SOURCES[3], *options, check=True)
        volume = 4 * 6 * 8 * 10 * 48
        assert solution_bytes(tmp_path / "one.h5")[5 * volume:8 * volume] == solution_bytes(tmp_path / "alone.h5")


def test_files_of_sources_are_read_one_vector_at_a_time(solve_file, tmp_path):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (1, 2, 3)])
    write_source(tmp_path / "b.h5", b)
    solve_file("at_once", "--sloppy", "none", "--source", f"file:{tmp_path / 'b.h5'}", check=True)
    solve_file("in_turn", "--sloppy", "none", "--sources", f"z2:1; file:{tmp_path / 'b.h5'}", "--batch", 2, check=True)
    volume = 4 * 6 * 8 * 10 * 48
    assert solution_bytes(tmp_path / "in_turn.h5")[volume:] == solution_bytes(tmp_path / "at_once.h5")
    # A file of solutions is a source too.
    solve_file("of_solution", "--sloppy", "none", "--source", f"file:{tmp_path / 'at_once.h5'}", check=True)
    solve_file("in_turn_of_solution", "--sloppy", "none", "--sources", f"file:{tmp_path / 'at_once.h5'}", "--batch", 2, check=True)
    assert solution_bytes(tmp_path / "in_turn_of_solution.h5") == solution_bytes(tmp_path / "of_solution.h5")


def test_less_memory_is_a_smaller_batch_with_the_same_bits(solve_file, tmp_path):
    result = solve_file("whole", "--sources", ";".join(SOURCES), check=True)
    assert json.loads((tmp_path / "whole.json").read_text())["batch"]["columns"] == 12
    needs = solve_file("refused", "--sources", ";".join(SOURCES), "--batch", 12, env={"STAGHORN_HOST_MEMORY": "6000000"})
    assert needs.returncode == 1 and "This would fit: " in needs.stderr and "at a time" in needs.stderr, result.stdout
    solve_file("small", "--sources", ";".join(SOURCES), env={"STAGHORN_HOST_MEMORY": "6000000"}, check=True)
    assert json.loads((tmp_path / "small.json").read_text())["batch"]["columns"] < 12
    assert (tmp_path / "small.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


@pytest.mark.parametrize("sources, status, words", [
    ("", 1, ["sources", "at least one source"]),
    ("z2:1; walls:3", 1, ["source: expected point:x,y,z,t", "found 'walls:3'"]),
    ("z2:1; point:0,0,0,10", 1, ["source point:0,0,0,10", "t from 0 to 9"]),
    ("@no_such_file.txt", 1, ["no_such_file.txt"]),
    ("file:no_such_file.h5", 1, ["no_such_file.h5"]),
])
def test_sources_that_make_no_sense_are_refused(solve_file, expect_error, tmp_path, sources, status, words):
    expect_error(solve_file("bad", "--sources", sources), status, *words)
    assert not list(tmp_path.glob("*bad*"))


@pytest.mark.parametrize("options, status, words", [
    (["--source", "wall:1"], 2, ["--sources", "no --source beside it"]),
    (["--guess", "x.h5"], 2, ["--guess belongs to a single batch"]),
    (["--output-format", "scidac"], 2, ["an HDF5 file, which takes solutions one by one"]),
    (["--batch", 0], 2, ["--batch", "from 1 to 64"]),
    (["--recover"], 1, ["--recover: expected a single batch", "--sources or --batch"]),
])
def test_what_belongs_to_one_batch_is_refused(solve_file, expect_error, options, status, words):
    expect_error(solve_file("bad", "--sources", "z2:1;z2:2", *options), status, *words)


def test_line_of_a_list_is_named(solve_file, expect_error, tmp_path):
    (tmp_path / "list.txt").write_text("# points\npoint:0,0,0,0\n\npoint:1,1,1\n")
    expect_error(solve_file("bad", "--sources", f"@{tmp_path / 'list.txt'}"), 1, "list.txt, line 4", "four coordinates")


@pytest.mark.parametrize("wrong", ["zero", "nan", "checksum"])
def test_vectors_that_would_end_the_job_are_refused_before_it(solve_file, expect_error, tmp_path, wrong):
    import h5py

    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (1, 2, 3)])
    b[2] = {"zero": 0, "nan": b[2] * np.nan, "checksum": b[2]}[wrong]
    path = write_source(tmp_path / "b.h5", b)
    if wrong == "checksum":
        with h5py.File(path, "a") as file:
            file["source"][2, 0, 0, 0, 0, 0] = 3
    words = {"zero": ["vector 2", "something else than zero"], "nan": ["vector 2", "NaN or infinity"],
             "checksum": ["suma stored"]}[wrong]
    result = solve_file("bad", "--sources", f"z2:1;file:{path}")
    expect_error(result, 1, *words)
    assert not list(tmp_path.glob("*bad*"))


@pytest.mark.parametrize("sloppy", ["none", "fp32"])
def test_block_solver_takes_batch_after_batch(links, sloppy):
    session = staghorn_py.Session(links, order="lex", solver="block", sloppy=sloppy)
    x, report = session.solve(0.2, sources="z2:5", noise_vectors=12, batch=5, system="even")
    assert report["outcome"] == "certified" and report["solver"] == "block" and len(report["rhs"]) == 12
    assert report["batch"]["columns"] == 4 and not report["batch"]["refills"]  # three of four, rather than 5, 5 and 2
    plain, one = staghorn_py.Session(links, order="lex").solve(0.2, "z2:5", noise_vectors=12, system="even")
    assert max(rhs["iterations"] for rhs in report["rhs"]) < min(rhs["iterations"] for rhs in one["rhs"])
    for found, expected in zip(x, plain):
        assert np.linalg.norm(found - expected) <= 1e-8 * np.linalg.norm(expected)


def test_masses_take_batch_after_batch(links):
    session = staghorn_py.Session(links, order="lex")
    x, report = session.solve(None, sources=SOURCES[:4], masses=[0.2, 0.5], batch=3)
    assert x.shape == (2, 8, 10, 8, 6, 4, 3) and not report["batch"]["refills"]
    assert [rhs["mass"] for rhs in report["rhs"]] == [0.2] * 8 + [0.5] * 8
    single, one = session.solve(None, "point:1,2,3,5", masses=[0.2, 0.5])
    for k in range(2):
        assert np.linalg.norm(x[k, 1:4] - single[k]) <= 1e-8 * np.linalg.norm(single[k])
        source = report["sources"][k * 4 + 1]
        assert (source["name"], source["first"]) == ("point:1,2,3,5", 8 * k + 1)
        assert source["pion_correlator"] == pytest.approx(one["pion_correlators"][k], rel=1e-8)
        assert report["sources"][k * 4]["condensate"]["n_vectors"] == 1
