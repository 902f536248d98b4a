"""A GPU that fails on one rank ends all of them at once, saying where and in what, and leaves no output behind."""

from __future__ import annotations

import re

import pytest
from gpus import transport_obstacle

pytestmark = pytest.mark.gpu

# The message names file, line and call, and ends with CUDA's own words.
PLACE = r"\S+\.\w+:\d+: (cuda\w+\(.*\)|launch of \w+): unspecified launch failure"


@pytest.fixture
def failing_solve(staghorn, small_gauge, tmp_path):
    """failing_solve(count, *options, rank=, ranks=) -> its errors, of a run in which nothing is left behind."""

    def run(count, *options, rank=1, ranks=2):
        result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.05, "--output", tmp_path / "x.h5", "--report",
                          tmp_path / "x.json", "--device", "cuda", *options, ranks=ranks,
                          env={"STAGHORN_FAIL_CUDA": f"{rank}:{count}"})
        if obstacle := transport_obstacle(result.stderr):
            pytest.skip(obstacle)
        assert result.returncode == 1, result.stdout + result.stderr
        assert not (tmp_path / "x.h5").exists() and not (tmp_path / "x.json").exists()
        return re.findall(r"staghorn: .*", result.stderr)

    return run


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("count", [4, 60, 250, 3000])  # memory, the test of the transport, hops of the solve
@pytest.mark.parametrize("transport", ["staged", "mapped"])
def test_a_failed_call_of_a_rank_that_shares_a_gpu_ends_all(failing_solve, transport, count, rank):
    errors = failing_solve(count, "--transport", transport, rank=rank)
    assert len(errors) == 1, errors
    assert re.search(rf"^staghorn: error: .*rank {rank}: {PLACE}$", errors[0])


@pytest.mark.parametrize("count", [4, 40, 120])
def test_a_failed_call_of_a_rank_beside_its_peers_ends_all(failing_solve, count):
    errors = failing_solve(count, "--transport", "p2p")
    assert re.search(rf"^staghorn: error: .*rank 1: {PLACE}$", errors[0]), errors


@pytest.mark.parametrize("count", [4, 40, 120])
def test_a_failed_call_of_the_only_rank_is_an_error(failing_solve, count):
    errors = failing_solve(count, rank=0, ranks=1)
    assert len(errors) == 1 and re.search(rf"^staghorn: error: {PLACE}$", errors[0]), errors


def test_a_failed_call_of_cublas_is_an_error(staghorn, small_gauge):
    """Within the iterations calls of cuBLAS stand between the hops: one of the first calls is of cuBLAS."""
    for count in range(1, 41):
        result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.05, "--device", "cuda", "--blas", "cublas",
                          env={"STAGHORN_FAIL_CUDA": f"0:{count} in CG iterations by cuBLAS"})
        assert result.returncode == 1
        if "LD_LIBRARY_PATH" in result.stderr:
            pytest.skip(result.stderr.strip())
        if re.search(r"staghorn: error: \S+cublas\.cpp:\d+: .+", result.stderr):
            return
    pytest.fail("no call of cuBLAS failed")
