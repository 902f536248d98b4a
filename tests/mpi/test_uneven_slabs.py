"""Slabs of any even widths: the same bits as one rank, for random cuts of 1 to 16 ranks, every precision, link form and action;
checkpoints that go on from other slabs, files that are equal to the byte, and shares that are refused by name."""

from __future__ import annotations

import json
import random
import re

import pytest
from solve_files import solution_bytes

pytestmark = pytest.mark.mpi

LATTICE = (8, 8, 12, 16)
DATE = {"SOURCE_DATE_EPOCH": "1795199983"}  # files of equal solves are equal to the byte
NAIVE = {
    "fp64-18-full": ["--sloppy", "none", "--mass", 0.3, "--source", "point:1,2,3,4", "--color", "all", "--tolerance", 1e-8],
    "fp32-12-even": ["--mass", 0.3, "--source", "z2:5", "--system", "even", "--precision", "fp32", "--links", 12,
                     "--tolerance", 1e-5],
    "fp64-8-odd": ["--sloppy", "none", "--mass", 0.3, "--source", "z2:6", "--links", 8, "--system", "odd", "--tolerance", 1e-8],
    "fp64-fp16": ["--mass", 0.3, "--source", "gaussian:5", "--noise-vectors", 2, "--sloppy", "fp16", "--tolerance", 1e-10],
    "masses": ["--sloppy", "none", "--masses", "0.3,0.5", "--source", "z2:7", "--tolerance", 1e-8],
    "masses-close": ["--masses", "0.3,0.31,0.32,0.33", "--source", "z2:7", "--sloppy", "fp32", "--tolerance", 1e-10],
    "block": ["--sloppy", "none", "--mass", 0.3, "--source", "z2:8", "--noise-vectors", 3, "--solver", "block", "--tolerance", 1e-8],
}
IMPROVED = {
    "hisq": ["--mass", 0.4, "--source", "z2:9", "--action", "hisq", "--sloppy", "fp32", "--tolerance", 1e-8],
    "asqtad": ["--sloppy", "none", "--mass", 0.4, "--source", "z2:9", "--action", "asqtad", "--naik-links", 18, "--tolerance", 1e-8],
}
REQUESTS = NAIVE | IMPROVED
FEW = {name: NAIVE[name] for name in ("fp32-12-even", "fp64-fp16", "block")}


def random_cut(ranks: int, least: int, seed: int) -> str:
    """Shares of a random process grid of so many ranks. The first slab of a direction has less than the others."""
    draw = random.Random(seed)
    while True:
        grid = [1, 1, 1, 1]
        left = ranks
        for prime in (2, 3, 5, 7, 11, 13):
            while left % prime == 0:
                left //= prime
                grid[draw.randrange(4)] *= prime
        if all(slabs == 1 or slabs * least < extent for slabs, extent in zip(grid, LATTICE)):
            break
    return ",".join(f"{mu}=1" + "".join(f":{draw.choice([2, 2.5, 3, 5])}" for _ in range(slabs - 1))
                    for mu, slabs in zip("xyzt", grid) if slabs > 1)


CUTS = [(ranks, random_cut(ranks, 2, 10 * ranks + n), NAIVE if ranks < 12 else FEW)
        for ranks, many in ((2, 3), (3, 2), (4, 2), (6, 1), (7, 1), (12, 1)) for n in range(many)]
# With registers of 4 and of 8 lanes: parts of 8 sites along z are cut into virtual nodes, and their neighbours of 4 are not.
CUTS += [(16, "x=1:3,y=1:3,z=1:2,t=3:5", FEW), (16, "x=1:3,y=1:3,z=1:2,t=1:3", FEW)]
IMPROVED_CUTS = [(ranks, random_cut(ranks, 4, 10 * ranks)) for ranks in (2, 3, 4, 6)]


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("slabs") / "hot.h5"
    staghorn("generate", "--lattice", *LATTICE, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 11,
             "--format", "hdf5", "--precision", "fp64", "--output", path, check=True)
    return path


@pytest.fixture(scope="module")
def solves(run_built, gauge, tmp_path_factory):
    """solves(ranks, {name: options}) -> {name: (report, path of the solution)}; one process a rank for all of them."""
    def run(ranks, requests):
        folder = tmp_path_factory.mktemp("cut")
        lines = ["\t".join(map(str, ["--gauge", gauge, *options, "--quiet", "--output", folder / f"{name}.h5", "--report",
                                     folder / f"{name}.json"])) for name, options in requests.items()]
        (folder / "requests").write_text("\n".join(lines) + "\n")
        result = run_built("many_solves", folder / "requests", ranks=ranks, env=DATE)
        assert result.stdout.count("exit status 0") == len(requests), result.stdout + result.stderr
        return {name: (json.loads((folder / f"{name}.json").read_text()), folder / f"{name}.h5") for name in requests}
    return run


@pytest.fixture(scope="module")
def one_rank(solves):
    return solves(1, REQUESTS)


@pytest.mark.parametrize("ranks, shares, requests", CUTS + [(*cut, IMPROVED) for cut in IMPROVED_CUTS],
                         ids=lambda value: {id(NAIVE): "naive", id(FEW): "few", id(IMPROVED): "improved"}.get(id(value), str(value)))
def test_solutions_have_the_bits_of_one_rank(solves, one_rank, ranks, shares, requests):
    found = solves(ranks, {name: [*options, "--shares", shares] for name, options in requests.items()})
    for name in requests:
        (report, solution), (expected, expected_solution) = found[name], one_rank[name]
        cut = {part[0]: part.count(":") + 1 for part in shares.split(",")}
        assert report["ranks"] == ranks and [len(widths) for widths in report["widths"]] == [cut.get(mu, 1) for mu in "xyzt"]
        assert [sum(widths) for widths in report["widths"]] == list(LATTICE)
        assert report["rhs"] == expected["rhs"], name
        assert report["gauge"]["plaquette"] == expected["gauge"]["plaquette"]
        assert solution_bytes(solution) == solution_bytes(expected_solution), name
        if report["memory_bytes"]["halo"] > 0:  # foreseen as an upper bound, of each rank's own part
            for what in ("links", "vectors", "halo", "certificate_links"):
                assert report["memory_bytes"][what] <= report["predicted_memory_bytes"][what], (name, what)
    assert any(len(set(widths)) > 1 for widths in report["widths"])


def test_three_ranks_share_what_three_does_not_divide(staghorn, solves, one_rank):
    report, solution = solves(3, {"fp64-8-odd": NAIVE["fp64-8-odd"]})["fp64-8-odd"]
    assert report["widths"] == [[8], [8], [4, 4, 4], [16]]  # a direction that three divides comes first
    assert solution_bytes(solution) == solution_bytes(one_rank["fp64-8-odd"][1])
    report, solution = solves(5, {"fp64-8-odd": NAIVE["fp64-8-odd"]})["fp64-8-odd"]
    assert report["widths"] == [[8], [8], [12], [4, 4, 4, 2, 2]]
    assert solution_bytes(solution) == solution_bytes(one_rank["fp64-8-odd"][1])


def test_files_are_equal_to_the_byte(staghorn, gauge, tmp_path):
    """Generated, read and written: 10 sites along x on 3 ranks are 4, 4 and 2; 16 along t on 5 are 4, 4, 4, 2 and 2."""
    for ranks in (1, 3):
        staghorn("generate", "--lattice", 10, 4, 4, 4, "--beta", 6, "--sweeps", 2, "--seed", 3, "--device", "cpu",
                 "--output", tmp_path / f"small-{ranks}.h5", ranks=ranks, env=DATE, check=True)
    assert (tmp_path / "small-1.h5").read_bytes() == (tmp_path / "small-3.h5").read_bytes()
    for form in ("nersc", "ildg", "milc"):
        for file, cut in ((tmp_path / "small-1.h5", 3), (gauge, 5)):
            for ranks in (1, cut):
                staghorn("convert", file, tmp_path / f"{ranks}.{form}", "--format", form, "--precision", "fp32", "--force", ranks=ranks, env=DATE, check=True)
            assert (tmp_path / f"1.{form}").read_bytes() == (tmp_path / f"{cut}.{form}").read_bytes(), (form, cut)


def test_improved_links_are_equal_to_the_byte(staghorn, tmp_path):
    """Fat and Naik links of HISQ: 16 along t on 3 ranks are 6, 6 and 4."""
    staghorn("generate", "--lattice", 6, 4, 8, 16, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 3, "--device", "cpu",
             "--output", tmp_path / "g.h5", env=DATE, check=True)
    for ranks in (1, 3):
        done = staghorn("smear", "--gauge", tmp_path / "g.h5", "--action", "hisq", "--fat", tmp_path / f"fat-{ranks}.h5", "--long",
                        tmp_path / f"long-{ranks}.h5", ranks=ranks, env=DATE, check=True)
        assert "6x4x8x16" in done.stdout
    for kind in ("fat", "long"):
        assert (tmp_path / f"{kind}-1.h5").read_bytes() == (tmp_path / f"{kind}-3.h5").read_bytes()


def test_a_checkpoint_goes_on_from_other_slabs(staghorn, gauge, tmp_path):
    options = ["solve", "--gauge", gauge, "--mass", 0.05, "--source", "z2:5", "--sloppy", "fp32", "--quiet", "--force"]
    staghorn(*options, "--output", tmp_path / "plain.h5", "--report", tmp_path / "plain.json", env=DATE, check=True)
    state = ["--checkpoint", tmp_path / "state.h5", "--checkpoint-every", 0, "--keep-checkpoint"]  # the file holds the last state before the end
    staghorn(*options, *state, "--output", tmp_path / "kept.h5", "--report", tmp_path / "kept.json", "--shares", "t=3:5", ranks=2,
             env=DATE, check=True)
    staghorn(*options, *state, "--resume", "--shares", "x=1:3,z=2:4", "--output", tmp_path / "cut.h5", "--report",
             tmp_path / "cut.json", ranks=4, env=DATE, check=True)
    plain, kept, cut = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "kept", "cut"))
    assert kept["checkpoint"]["written"] >= 1 and cut["checkpoint"]["resumed_iterations"] >= 16
    assert (kept["widths"][3], cut["widths"][0], cut["widths"][2]) == ([6, 10], [2, 6], [4, 8])
    assert kept["rhs"] == plain["rhs"] == cut["rhs"]
    assert (tmp_path / "kept.h5").read_bytes() == (tmp_path / "plain.h5").read_bytes() == (tmp_path / "cut.h5").read_bytes()


BAD_SHARES = [
    (2, "3:1:1", "t into 3, found 2 ranks"),
    (2, "u=1:2", "--shares: expected even, auto, or numbers above 0"),
    (2, "t=1:0", "--shares: expected even, auto, or numbers above 0"),
    (2, "t=1:2,t=1:2", "--shares: expected each direction once"),
    (9, "t=" + ":".join("1" * 9), "t into 9, found 9 ranks"),
]


@pytest.mark.parametrize("ranks, shares, message", BAD_SHARES, ids=[shares for _, shares, _ in BAD_SHARES])
def test_shares_that_do_not_fit_are_refused_by_name(staghorn, gauge, ranks, shares, message):
    result = staghorn("solve", "--gauge", gauge, "--mass", 1, "--shares", shares, ranks=ranks)
    assert result.returncode in (1, 2) and re.search(message, result.stderr), result.stderr


def test_shares_must_fit_the_grid(staghorn, gauge):
    result = staghorn("solve", "--gauge", gauge, "--mass", 1, "--shares", "x=3:1", "--grid", "1,1,1,2", ranks=2)
    assert result.returncode == 1
    assert "shares x=3:1: expected 1 number, one for each slab of the grid, found 2" in result.stderr
