"""The same request gives the same bits: on any number of ranks, any process grid, any number of threads, any mapping of
ranks to hosts, and with directions cut on one process. Compared are the bytes of the solution dataset, the iteration
counts and the certificate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from solve_files import solution_bytes

pytestmark = pytest.mark.mpi

LATTICE = (8, 8, 12, 16)
DECOMPOSITIONS = [
    # ranks, threads, process grid, loop-back
    (1, 2, None, ""),
    (1, 1, None, "x"),
    (1, 2, None, "t"),
    (1, 1, None, "xyzt"),
    (2, 1, None, ""),
    (2, 2, "2,1,1,1", ""),
    (2, 1, "1,1,1,2", "y"),
    (4, 1, None, ""),
    (4, 1, "2,2,1,1", ""),
    (4, 2, "1,1,2,2", ""),
    (4, 1, "4,1,1,1", ""),
    (8, 1, "2,2,2,1", ""),
    (8, 1, "1,1,1,8", ""),
    (8, 2, "2,1,2,2", ""),
    (16, 1, "2,2,2,2", ""),
    (16, 1, "1,4,2,2", ""),
    (16, 1, "4,4,1,1", ""),
]
# Ranks, ranks a host (pretended), grid, mapping asked for, mapping in use, share of face area within hosts: of the
# local lattice 4x4x6x8 (4x8x6x8) a face across x, y, z, t has 192, 192, 128, 96 (384, -, 256, 192) sites.
# Sixteen ranks wait for each other most of the time: they solve one request.
MAPPINGS = [
    (8, 4, "2,1,2,2", "host", "host", (384 + 256) / (384 + 256 + 192)),
    (8, 4, "2,1,2,2", "reversed", "reversed", (192 + 256) / (384 + 256 + 192)),
    (8, 3, "2,1,2,2", "host", "natural", None),
    (16, 2, "2,2,2,2", "host", "host", 192 / (2 * 192 + 128 + 96)),
    (16, 4, "1,4,2,2", "host", "host", None),
]
REQUESTS = {
    "full-fp64-18": ["--sloppy", "none", "--mass", 0.1, "--source", "point:1,2,3,4", "--color", "all", "--tolerance", 1e-8],
    "even-fp32-12": ["--mass", 0.2, "--source", "z2:5", "--system", "even", "--precision", "fp32", "--links", 12,
                     "--tolerance", 1e-5],
    "full-fp64-8": ["--sloppy", "none", "--mass", 0.2, "--source", "z2:6", "--links", 8, "--tolerance", 1e-10],
    "odd-mixed": ["--mass", 0.2, "--source", "gaussian:5", "--noise-vectors", 2, "--system", "odd", "--sloppy", "fp32",
                  "--tolerance", 1e-10],
}


def describe(decomposition) -> str:
    ranks, threads, grid, loopback = decomposition
    return f"{ranks}ranks-{threads}threads-{grid or 'auto'}" + (f"-loopback-{loopback}" if loopback else "")


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("bits") / "hot.h5"
    staghorn("generate", "--lattice", *LATTICE, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 11,
             "--format", "hdf5", "--precision", "fp64", "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def solve_all(run_built, gauge):
    """solve_all(folder, *options, names=REQUESTS, ranks=, threads=, env=) -> name of a request -> its report and the bytes of its
    solution; all in one job, one after the other."""

    def run(folder: Path, *options, names=tuple(REQUESTS), **how) -> dict[str, tuple[dict, bytes]]:
        lines = [["--gauge", gauge, *request, *options, "--output", folder / f"{name}.h5", "--report", folder / f"{name}.json"]
                 for name, request in REQUESTS.items() if name in names]
        (folder / "lines").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
        result = run_built("many_solves", folder / "lines", **how)
        assert result.returncode == 0 and result.stdout.count("exit status 0") == len(names), result.stdout + result.stderr
        return {name: (json.loads((folder / f"{name}.json").read_text()), solution_bytes(folder / f"{name}.h5")) for name in names}

    return run


@pytest.fixture(scope="module")
def one_rank(solve_all, tmp_path_factory):
    """What one rank with one thread answers."""
    found = solve_all(tmp_path_factory.mktemp("one_rank"), threads=1)
    assert all(report["outcome"] == "certified" for report, _ in found.values())
    return found


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS, ids=describe)
def test_solutions_have_the_bits_of_one_rank(solve_all, one_rank, tmp_path, decomposition):
    ranks, threads, grid, loopback = decomposition
    cut = (["--grid", grid] if grid else []) + (["--loopback", loopback] if loopback else [])
    for name, (report, solution) in solve_all(tmp_path, *cut, ranks=ranks, threads=threads).items():
        expected_report, expected_bytes = one_rank[name]
        assert (report["ranks"], report["threads"]) == (ranks, threads), name
        if grid:
            assert report["grid"] == [int(n) for n in grid.split(",")], name
        for key in "iterations", "history", "residual_true", "norm2", "norm2_even", "norm2_odd":
            assert [r[key] for r in report["rhs"]] == [r[key] for r in expected_report["rhs"]], (name, key)
        assert report["pion_correlator"] == expected_report["pion_correlator"], name
        assert report["gauge"]["plaquette"] == expected_report["gauge"]["plaquette"], name
        assert solution == expected_bytes, name


@pytest.mark.parametrize("ranks, per_host, grid, mapping, used, share", MAPPINGS)
def test_solutions_do_not_depend_on_who_holds_which_part(solve_all, one_rank, tmp_path, ranks, per_host, grid, mapping, used, share):
    found = solve_all(tmp_path, "--grid", grid, "--mapping", mapping, names=("full-fp64-8", "even-fp32-12")[ranks // 16:], ranks=ranks,
                      env={"STAGHORN_RANKS_PER_HOST": str(per_host)})
    for name, (report, solution) in found.items():
        expected_report, expected_bytes = one_rank[name]
        assert (report["mapping"], report["hosts"]) == (used, -(-ranks // per_host)), name
        if share is not None:
            assert report["face_share_within_hosts"] == pytest.approx(share), name
        assert [r["history"] for r in report["rhs"]] == [r["history"] for r in expected_report["rhs"]], name
        assert report["pion_correlator"] == expected_report["pion_correlator"], name
        assert solution == expected_bytes, name


def test_ranks_per_host_must_be_a_number(staghorn, gauge):
    result = staghorn("solve", "--gauge", gauge, "--mass", 1, env={"STAGHORN_RANKS_PER_HOST": "two"})
    assert result.returncode == 1
    assert "STAGHORN_RANKS_PER_HOST: expected a number of at least 1, found 'two'" in result.stderr
