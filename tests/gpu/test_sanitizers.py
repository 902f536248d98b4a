"""compute-sanitizer finds nothing: no access out of bounds, no race in shared memory, nothing read before it is written."""

from __future__ import annotations

import shutil

import pytest
from gpus import LOOP_OF_CHOICE

pytestmark = pytest.mark.gpu

TOOLS = ("memcheck", "racecheck", "initcheck")
LINKS = (18, 12, 8)
CELLS = {
    **{(precision, links): ["--precision", precision, "--sloppy", "none", "--links", links] for precision in ("fp64", "fp32") for links in LINKS},
    **{(sloppy, links): ["--sloppy", sloppy, "--links", links, "--sloppy-links", links] for sloppy in ("fp32", "fp16") for links in LINKS},
}
CUTS = ((1, ""), (1, "xyzt"), (3, "xyzt"), (4, "t"), (16, ""))


@pytest.fixture(scope="module")
def under():
    """under(tool): the words that run a program under a tool of compute-sanitizer; skips where there is none."""
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("no compute-sanitizer in PATH")
    return lambda tool: ["compute-sanitizer", "--tool", tool, "--error-exitcode", "99"]


@pytest.fixture(scope="module")
def check(staghorn, solve_many, tmp_path_factory, under):
    """check(tool, lattice, cells, cuts, iterations, kernels): so many iterations of CG in every cell, cut and number of
    right-hand sides; one form of the loop."""
    folder = tmp_path_factory.mktemp("gauge")

    def run(tool, lattice, cells, cuts, iterations, kernels):
        gauge = folder / f"{'x'.join(map(str, lattice))}.h5"
        if not gauge.exists():
            staghorn("generate", "--lattice", *lattice, "--sweeps", 0, "--seed", 3, "--device", "cpu", "--output", gauge, check=True)
        requests = {(n_rhs, cut, *cell): [*options, "--noise-vectors", n_rhs, "--loopback", cut]
                    for n_rhs, cut in cuts for cell, options in cells.items()}
        found = solve_many(gauge, requests, "--mass", 0.3, "--source", "gaussian:5", "--device", "cuda", "--max-iterations",
                           iterations, env={"STAGHORN_CG_KERNELS": kernels}, under=under(tool))
        assert found.statuses == {3}  # out of iterations
        assert {report["loop"] for report in found.reports} == {LOOP_OF_CHOICE[kernels]}

    return run


@pytest.mark.parametrize("kernels", ["one", "wide", "two"])
@pytest.mark.parametrize("tool", TOOLS)
def test_solves_are_clean(check, tool, kernels):
    check(tool, (4, 4, 4, 4), CELLS, CUTS, 12, kernels)


@pytest.mark.parametrize("kernels", ["one", "wide", "two"])
@pytest.mark.parametrize("tool", TOOLS)
def test_solves_are_clean_where_fields_travel_in_pieces_and_chunks_are_taken(check, tool, kernels):
    check(tool, (16, 16, 16, 48), CELLS, ((1, ""), (1, "z")), 3, kernels)


@pytest.mark.parametrize("tool", TOOLS)
def test_heatbath_is_clean(staghorn, tmp_path, under, tool):
    staghorn("generate", "--lattice", 4, 4, 4, 8, "--beta", 5.7, "--sweeps", 2, "--seed", 3, "--device", "cuda",
             "--output", tmp_path / "gauge.h5", check=True, under=under(tool))
