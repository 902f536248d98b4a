"""Hosts that round upwards, flush subnormal numbers or trap: calls give the bits they give anywhere, and leave all as it was."""

from __future__ import annotations

import platform

import pytest

MODES = ["upward", "downward", "toward-zero", "traps", *(["flush"] if platform.machine() == "x86_64" else [])]


@pytest.fixture(scope="module")
def hash_of(run_built, tmp_path_factory):
    def run(mode, threads, pool):
        result = run_built("host_arithmetic", mode, threads, pool, tmp_path_factory.mktemp("pairs"), threads=threads)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.fixture(scope="module")
def expected(hash_of):
    return hash_of("nearest", 1, "alone")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads, pool", [(1, "alone"), (2, "alone"), (2, "all"), (3, "others")])
def test_bits_are_those_of_a_plain_host(hash_of, expected, mode, threads, pool):
    """There and back in every thread: see the program."""
    assert hash_of(mode, threads, pool) == expected
