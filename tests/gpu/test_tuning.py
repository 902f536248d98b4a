"""Launches on a GPU are tuned once and remembered, and no bit of the answer depends on them."""

from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.gpu

RHS = 24  # so that all tiles divide it, and blocks are more than one wave with the smaller


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gpu") / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


@pytest.fixture
def solve(staghorn, gauge, tmp_path):
    """solve(*options) -> bytes of the solution, report, what was printed; choices are kept below tmp_path/cache. Without --sloppy: none."""

    def run(*options, ranks=1, env=None):
        output, report = tmp_path / "x.h5", tmp_path / "x.json"
        result = staghorn("solve", "--gauge", gauge, "--mass", 0.5, "--device", "cuda", "--source", "gaussian:5",
                          "--noise-vectors", RHS, "--output", output, "--report", report, "--force", *options,
                          *(() if "--sloppy" in options else ("--sloppy", "none")),
                          ranks=ranks, check=True,
                          env={"XDG_CACHE_HOME": str(tmp_path / "cache"), "STAGHORN_TUNING": "on",
                               "SOURCE_DATE_EPOCH": "0", **(env or {})})
        return output.read_bytes(), json.loads(report.read_text()), result.stdout

    return run


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache" / "staghorn" / "launches-v3.txt"


def test_a_choice_is_made_once(solve, cache):
    _, report, stdout = solve()
    first = cache.read_text()
    assert (report["tuning"]["tuned"], report["tuning"]["remembered"]) == (3, 0)
    assert len(first.splitlines()) == 3 and f"kept in {cache}" in stdout
    _, report, stdout = solve()
    assert (report["tuning"]["tuned"], report["tuning"]["remembered"]) == (0, 3) and "tuned" not in stdout
    assert cache.read_text() == first
    _, report, _ = solve("--tuning", "again")
    assert report["tuning"]["tuned"] == 3
    assert cache.read_text().startswith(first) and len(cache.read_text().splitlines()) == 6
    _, report, _ = solve("--sloppy", "fp32")
    assert (report["tuning"]["remembered"], report["sloppy_tuning"]["tuned"]) == (3, 3)


def test_off_neither_reads_nor_writes(solve, cache):
    solve("--tuning", "off")
    assert not cache.parent.exists()
    solve()
    cache.write_text(kept := re.sub("= .*", "= 1 4", cache.read_text()))
    _, report, _ = solve("--tuning", "off")
    assert report["tuning"]["launches"]["hop"] == {"tile": 16, "waves": 1} and cache.read_text() == kept


@pytest.mark.parametrize("options", [("--precision", "fp64"), ("--precision", "fp32", "--links", 12),
                                     ("--precision", "fp64", "--loopback", "zt"), ("--sloppy", "fp16")])
def test_every_choice_gives_the_same_bits(solve, cache, options):
    expected, _, _ = solve("--tuning", "off", *options)
    assert solve(*options)[0] == expected
    for tile, waves in [(4, 2), (3, 4), (2, 1), (1, 4)]:
        cache.write_text(re.sub("= .*", f"= {tile} {waves}", cache.read_text()))
        found, report, _ = solve(*options)
        assert report["tuning"]["tuned"] == 0
        assert report["tuning"]["launches"]["residual"] == {"tile": tile, "waves": waves}
        assert found == expected


def test_a_damaged_file_is_tuned_around(solve, cache):
    solve()
    good = cache.read_text()
    cache.write_bytes(b"\xff\x00 = \n" + good.replace("= ", "= x", 1).encode() + b"half a li")
    _, report, _ = solve()
    assert (report["tuning"]["tuned"], report["tuning"]["remembered"]) == (1, 2)


def test_an_unwritable_folder_is_reported(solve, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    _, report, stdout = solve()
    assert report["tuning"]["tuned"] == 3 and report["tuning"]["not_kept"]
    assert stdout.count("not kept: ") == 1


@pytest.mark.mpi
def test_ranks_share_the_choice_of_rank_0(solve, cache):
    expected, _, _ = solve("--tuning", "off")
    found, report, stdout = solve(ranks=2)
    assert found == expected and report["tuning"]["tuned"] == 3 and stdout.count("tuned") == 1
    assert all(" cut t " in line for line in cache.read_text().splitlines())
    assert solve(ranks=2)[1]["tuning"]["remembered"] == 3
