"""Block CG: iterations that 16 right-hand sides save together, dependent sources, permutations, mixed precision, and what
happens where the block gives up. That every process grid has the same bits: mpi/test_block_bits.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from solve_files import relative_difference, solve, write_source

CONFIG = Path(__file__).parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
EXTENTS = (8, 8, 8, 16)
BLOCK = ("--solver", "block", "--system", "even")


def sources(count: int, seed: int = 7) -> np.ndarray:
    x, y, z, t = EXTENTS
    random = np.random.default_rng(seed)
    return random.choice([-1.0, 1.0], (count, t, z, y, x, 3)) + 0j


def outcomes(report) -> set:
    assert all(rhs["residual_true"] <= report["tolerance"] for rhs in report["rhs"])
    return {rhs["outcome"] for rhs in report["rhs"]}


@pytest.fixture(scope="module")
def of_sixteen(staghorn, tmp_path_factory):
    """of_sixteen(sources, *options) -> report and solution."""
    folder = tmp_path_factory.mktemp("block")

    def run(vectors, *options, solver="block"):
        source = write_source(folder / "source.h5", vectors)
        return solve(staghorn, folder, CONFIG, "--source", f"file:{source}", "--system", "even", "--solver", solver, *options)

    return run


def test_dependent_and_equal_sources_cost_what_independent_ones_cost(of_sixteen):
    """302 iterations, computed independently: noise keeps the block at 16 directions. The batch takes 510."""
    vectors = sources(16)
    vectors[5] = vectors[2]
    vectors[9] = vectors[1] + 0.5j * vectors[3] - vectors[12]
    report, solution = of_sixteen(vectors, "--sloppy", "none", "--mass", 0.05)
    assert outcomes(report) == {"certified"} and report["solver"] == report["loop"] == "block"
    assert report["took_over"] is None
    assert all(abs(rhs["iterations"] - 302) <= 5 for rhs in report["rhs"])
    assert relative_difference(solution[5], solution[2]) < 1e-12
    assert relative_difference(solution[9], solution[1] + 0.5j * solution[3] - solution[12]) < 1e-12


def test_permuted_columns_have_the_same_solutions(of_sixteen):
    vectors = sources(4)
    order = [2, 0, 3, 1]
    report, solution = of_sixteen(vectors, "--mass", 0.2, "--tolerance", 1e-11)
    permuted_report, permuted = of_sixteen(vectors[order], "--mass", 0.2, "--tolerance", 1e-11)
    assert outcomes(report) == outcomes(permuted_report) == {"certified"}
    assert relative_difference(permuted, solution[order]) <= 1e-9
    assert permuted.tobytes() != solution[order].tobytes(), "columns share directions: the order shows in the last bits"


def test_mixed_precision_keeps_its_directions(of_sixteen):
    """335 iterations at most: with directions restarted at each update it would be 578 (docs/many-sources.md)."""
    report, _ = of_sixteen(sources(16), "--mass", 0.05, "--sloppy", "fp32")
    assert outcomes(report) == {"certified"} and report["loop"] == "block" and report["took_over"] is None
    (iterations,) = {rhs["iterations"] for rhs in report["rhs"]}
    assert iterations <= 335
    assert len(report["rhs"][0]["updates"]) >= 15, "the residual was computed anew at each fall by 0.3"
    history = np.array(report["rhs"][0]["history"])
    assert len(history) == iterations + 1 and history[-1] <= 1e-10


def test_fp64_goes_on_where_fp32_loses_the_directions(of_sixteen):
    """At m = 0.001 rounding in fp32 mixes the directions: the block goes on in fp64, where it takes 392 iterations alone."""
    report, _ = of_sixteen(sources(16), "--mass", 0.001, "--sloppy", "fp32")
    assert outcomes(report) == {"certified"} and report["loop"] == "block"
    assert re.fullmatch(r"block in fp64 after \d+ iterations, where block CG in fp32 lost the directions", report["took_over"])
    assert max(rhs["iterations"] for rhs in report["rhs"]) < 2 * 392
    for rhs in report["rhs"]:
        assert len(rhs["mismatches"]) == len(rhs["updates"]) > 0 and max(rhs["mismatches"]) < 0.01


def test_one_column_is_conjugate_gradient(of_sixteen):
    vectors = sources(1)
    block, _ = of_sixteen(vectors, "--mass", 0.2)
    assert outcomes(block) == {"certified"}
    batch, _ = of_sixteen(vectors, "--mass", 0.2, solver="cg")
    assert abs(block["rhs"][0]["iterations"] - batch["rhs"][0]["iterations"]) <= 1


def test_more_right_hand_sides_than_a_block_holds_are_refused(staghorn):
    result = staghorn("solve", "--gauge", CONFIG, "--mass", 0.2, "--source", "z2:1", "--noise-vectors", 17, *BLOCK)
    assert result.returncode == 1 and "solver: expected at most 16 right-hand sides of block, found 17" in result.stderr


def test_fp16_is_refused(staghorn):
    result = staghorn("solve", "--gauge", CONFIG, "--mass", 0.2, "--source", "z2:1", *BLOCK, "--sloppy", "fp16")
    assert result.returncode == 1 and "fp32 with solver block" in result.stderr
