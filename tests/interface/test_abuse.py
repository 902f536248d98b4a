"""What no host should do to the library, and what it must survive: wrong arguments, failing calls, many cycles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpus import gpu_count
from program_under_test import built_program


HEADER = Path(__file__).resolve().parents[2] / "solver" / "interface" / "staghorn.h"


def test_random_arguments_get_a_status_and_a_text(run_built, staghorn, tmp_path):
    staghorn("generate", "--lattice", 4, 4, 4, 4, "--beta", 6, "--sweeps", 1, "--device", "cpu",
             "--output", tmp_path / "links.h5", check=True)
    result = run_built("hostile_calls", 60000, 1, tmp_path, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    counts = {int(status): int(count) for status, count in re.findall(r"^(-?\d+): (\d+)$", result.stdout, re.MULTILINE)}
    # 3, a breakdown, needs numbers whose squares overflow, which solves bring into range (property/test_scales.py).
    assert min(counts[status] for status in (-10, -8, -7, -6, -5, -3, -2, -1, 0, 1, 2, 4, 5)) > 0, counts
    assert counts[-9] == 0
    results = {name: int(count) for name, count in re.findall(r"^(\w+): \d+ calls, (\d+) results$", result.stdout, re.MULTILINE)}
    of_header = set(re.findall(r"^STAGHORN_API int (staghorn_\w+)\(", HEADER.read_text(), re.MULTILINE))
    assert set(results) == of_header - {"staghorn_version"}
    without = {name for name, count in results.items() if count == 0}
    assert without == {"staghorn_context_create_f", "staghorn_refuse"}  # MPI does not run here; that gives none


@pytest.mark.parametrize("failing", [[], pytest.param([1], marks=pytest.mark.mpi)], ids=["alone", "one-of-two"])
def test_every_allocation_may_fail(run_built, failing):
    if not built_program("failing_allocations").is_file():
        pytest.skip("not built with sanitizers")
    every = 101 if failing else 7  # two ranks take longer
    result = run_built("failing_allocations", every, *failing, ranks=1 + len(failing), threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    all_of_them, refused, survived = map(int, re.match(r"allocations (\d+) refused (\d+) survived (\d+)", result.stdout).groups())
    assert all_of_them > 500 and refused > 0.9 * (refused + survived) and refused + survived >= all_of_them // every


@pytest.mark.parametrize("ranks", [0, pytest.param(2, marks=pytest.mark.mpi)])
def test_memory_does_not_grow(run_built, ranks):
    """A leaked field of this lattice is 12 KiB, leaked links are 144 KiB."""
    cycles = 100 if ranks else 300
    result = run_built("endurance", cycles, *(["mpi"] if ranks else []), ranks=max(ranks, 1), threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    kibibytes, communicators = map(int, re.match(r"grown (-?\d+) KiB, (-?\d+) communicators", result.stdout).groups())
    assert kibibytes < 7 * cycles and communicators == 0, result.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("ranks, failing, every, with_pairs", [(1, 0, 2, False), (2, 0, 37, False), (2, 1, 37, False), (2, 1, 29, True)])
def test_a_call_of_mpi_that_fails_on_one_rank_is_an_error_of_all(run_built, tmp_path, ranks, failing, every, with_pairs):
    """One status and one text on all ranks, and the next solve of the context gives the same bits: see there."""
    result = run_built("failing_messages", failing, every, 1 + 5 * failing, *([tmp_path] if with_pairs else []), ranks=ranks, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    calls = int(re.match(r"calls (\d+) ", result.stdout).group(1))
    failed = {name: int(count) for name, count in re.findall(r"(\w+ing) (\d+)", result.stdout)}
    of_pairs = {"searching", "writing", "reading"}
    assert calls > (500 if ranks > 1 else 20), result.stdout
    assert {name for name, count in failed.items() if count == 0} == (set() if with_pairs else of_pairs), result.stdout


@pytest.mark.gpu
@pytest.mark.mpi
@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("kind, every", [("shared", 23), ("p2p", 11), ("nccl", 233), ("each", 67)])
def test_a_call_of_cuda_that_fails_on_one_rank_is_an_error_of_all(run_built, kind, every, failing):
    """Two ranks that share a GPU, with staged faces; or with a GPU each, by p2p, NCCL, or what is fastest."""
    if kind != "shared" and gpu_count() < 2:
        pytest.skip(f"{kind} needs 2 GPUs, there are {gpu_count()}")
    result = run_built("failing_messages", kind, failing, every, 1 + 7 * failing, ranks=2, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    failed = {name: int(count) for name, count in re.findall(r"(\w+ing) (\d+)", result.stdout)}
    assert failed["solving"] > 5, result.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("ranks, culprit", [(2, 0), (2, 1), (3, 1), (3, 2)])
def test_a_handle_that_is_none_on_one_rank_is_an_error_of_all(run_built, staghorn, tmp_path, ranks, culprit):
    """Every collective function, in either of two contexts; with three ranks nobody sends to rank 2 unasked: see there."""
    staghorn("generate", "--lattice", 2, 2, 2, 4 * ranks, "--beta", 6, "--sweeps", 1, "--device", "cpu",
             "--output", tmp_path / "gauge.h5", check=True)
    result = run_built("wrong_handles", culprit, tmp_path, ranks=ranks, threads=1, timeout=180)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout == "refused 26\n"


@pytest.mark.mpi
def test_ranks_that_ask_for_different_things_hear_the_difference(run_built):
    """Status and text are those of both ranks, and the context goes on: see there."""
    result = run_built("unlike_requests", ranks=2, threads=1, timeout=180)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.splitlines()) == 13, result.stdout
