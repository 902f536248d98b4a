"""What a solve takes is predicted object by object, and what does not fit is refused before it is allocated."""

from __future__ import annotations

import re

import pytest

OBJECTS = {"links", "sloppy_links", "halo", "vectors", "certificate_links", "certificate_vectors", "device_certificate",
           "sources_solutions"}
CHOICES = {
    "fp64": ["--sloppy", "none"],
    "fp32, 12 reals": ["--precision", "fp32", "--links", 12],
    "mixed": ["--sloppy", "fp32"],
    "preconditioned": ["--sloppy", "none", "--preconditioner", "chebyshev:3"],
    "preconditioned in fp16": ["--preconditioner", "chebyshev:3", "--sloppy", "fp16"],
    "one parity": ["--sloppy", "none", "--system", "even"],
    "cut": ["--loopback", "zt"],
    "phases": ["--boundary", "0.3,antiperiodic,periodic,0.5"],
}


@pytest.fixture(scope="module")
def even_gauge(staghorn, tmp_path_factory):
    """Extents that split into virtual nodes for every vector width."""
    path = tmp_path_factory.mktemp("memory") / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--sweeps", 0, "--output", path, check=True)
    return path


@pytest.mark.parametrize("choice", CHOICES)
def test_prediction_is_exact_where_lanes_split_the_lattice(solve, even_gauge, choice):
    report = solve(*CHOICES[choice], gauge=even_gauge).report
    taken, predicted = report["memory_bytes"], report["predicted_memory_bytes"]
    assert set(predicted) == OBJECTS == set(taken) - {"peak_resident"}
    assert {name: taken[name] for name in OBJECTS} == predicted


@pytest.mark.parametrize("choice", CHOICES)
def test_prediction_is_close_where_they_do_not(solve, choice):
    """4x6x8x10: an upper bound, for some neighbours are whole blocks by chance."""
    report = solve(*CHOICES[choice]).report
    for name, predicted in report["predicted_memory_bytes"].items():
        assert report["memory_bytes"][name] <= predicted <= 1.5 * report["memory_bytes"][name], name


@pytest.mark.mpi
def test_prediction_holds_on_several_ranks(solve, even_gauge):
    report = solve(gauge=even_gauge, ranks=2).report
    assert {name: report["memory_bytes"][name] for name in OBJECTS} == report["predicted_memory_bytes"]


def test_search_for_eigenpairs_says_how_many_fit(staghorn, even_gauge, expect_error):
    search = ["eigen", "--gauge", even_gauge, "--quiet", "--max-calls", 100, "--pairs"]
    limit = {"STAGHORN_HOST_MEMORY": "5e7"}
    message = expect_error(staghorn(*search, 200, env=limit), 1, "200 eigenpairs on 8x8x8x16", "610 vectors of 0.2 MB", "50.0 MB")
    fitting = int(re.search(r"([0-9]+) --pairs fit", message).group(1))
    assert staghorn(*search, fitting, env=limit).returncode == 3  # it begins
    expect_error(staghorn(*search, fitting + 1, env=limit), 1, "would take")


def needed(solve, gauge, *options) -> float:
    """Bytes that a refusal names, of a solve that may take almost nothing."""
    result = solve(*options, gauge=gauge, env={"STAGHORN_HOST_MEMORY": "1000"})
    assert result.returncode == 1 and not result.report_path.exists()
    return float(re.search(r"would take ([0-9.]+) MB of host memory", result.stderr).group(1)) * 1e6


def suggestions(result) -> list[str]:
    return result.stderr.strip().rstrip(".").split("This would fit: ")[1].split("; ")


def test_refusal_names_objects_and_numbers(solve, even_gauge, expect_error):
    result = solve(gauge=even_gauge, env={"STAGHORN_HOST_MEMORY": "9e6"})
    expect_error(result, 1, "memory", "1 right-hand side", "8x8x8x16", "9.0 MB", "certificate_links 4.7 MB", "vectors")


def test_what_mesons_keep_is_foreseen(solve, even_gauge):
    """Solutions of three colours, 15 shifted fields and two more: 48 bytes a site each."""
    point = ["--source", "point:0,0,0,0", "--color", "all"]
    kept = needed(solve, even_gauge, *point, "--mesons", "all") - needed(solve, even_gauge, *point)
    assert kept == pytest.approx((3 + 15 + 2) * 48 * 8 * 8 * 8 * 16, abs=0.2e6)


def test_what_is_said_to_fit_does(solve, even_gauge):
    three = needed(solve, even_gauge, "--source", "z2:1", "--noise-vectors", 3)
    assert needed(solve, even_gauge) < three
    limit = {"STAGHORN_HOST_MEMORY": str(0.99 * three)}
    result = solve("--source", "z2:1", "--noise-vectors", 3, gauge=even_gauge, env=limit)
    assert suggestions(result) == ["2 right-hand sides at a time", "fp64 throughout (--sloppy none)", "12 reals a link (--links 12)",
                                   "2 ranks with as much memory each (grid 1x1x1x2)"]
    assert solve("--source", "z2:1", "--noise-vectors", 2, gauge=even_gauge, env=limit).returncode == 0
    assert solve("--source", "z2:1", "--noise-vectors", 3, "--links", 12, gauge=even_gauge, env=limit,
                 name="again").returncode == 0
    assert solve("--source", "z2:1", "--noise-vectors", 3, "--sloppy", "none", gauge=even_gauge, env=limit, name="fp64").returncode == 0


@pytest.mark.mpi
def test_ranks_of_a_host_share_its_memory(solve, even_gauge, expect_error):
    """Enough for one rank is not enough for twice as much in two: both are refused with one message."""
    one = needed(solve, even_gauge)
    result = solve(gauge=even_gauge, ranks=2, env={"STAGHORN_HOST_MEMORY": str(0.5 * one)})
    expect_error(result, 1, "memory", "grid 1x1x1x2")


def test_limit_that_is_no_number(solve, expect_error):
    expect_error(solve(env={"STAGHORN_HOST_MEMORY": "much"}), 1, "STAGHORN_HOST_MEMORY", "number of bytes", "much")
