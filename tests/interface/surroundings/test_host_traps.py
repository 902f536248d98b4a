"""Hosts whose processes trap invalid numbers, divisions by zero and overflows from their start, as gfortran -ffpe-trap has them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from solve_files import solution_bytes

PRELOADED = """
#define _GNU_SOURCE
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void set(void) {
  const char *mode = getenv("MODE");
  if (mode && strcmp(mode, "traps") == 0) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  if (mode && strcmp(mode, "upward") == 0) fesetround(FE_UPWARD);
#if defined(__x86_64__)
  if (mode && strcmp(mode, "flush") == 0) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}
"""


@pytest.fixture(scope="module")
def started_in(tmp_path_factory):
    """started_in(mode) -> the environment of a process that has this mode from its start."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine")
    folder = tmp_path_factory.mktemp("preloaded")
    (folder / "mode.c").write_text(PRELOADED)
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "mode.c", "-o", folder / "mode.so", "-lm"], check=True)
    return lambda mode: {"LD_PRELOAD": str(folder / "mode.so"), "MODE": mode}


@pytest.mark.parametrize("host, arguments", [("milc_host", ["write"]), ("cps_program", []), ("many_shifts", []), ("improved_hosts", [])])
def test_hosts_that_trap_are_not_ended(run_built, started_in, tmp_path, host, arguments):
    files = [tmp_path / "plain", tmp_path / "traps"] if arguments else []
    plain = run_built(host, *arguments, *files[:1], threads=2)
    traps = run_built(host, *arguments, *files[1:], threads=2, env=started_in("traps"))
    assert plain.returncode == 0 and (traps.returncode, traps.stdout) == (0, plain.stdout), traps.stdout + traps.stderr
    assert len({file.read_bytes() for file in files}) <= 1


@pytest.mark.parametrize("mode", ["upward", "flush", "traps"])
def test_program_computes_as_ever(staghorn, started_in, small_gauge, tmp_path, mode):
    solve = ["solve", "--gauge", small_gauge, "--mass", 0.3, "--source", "gaussian:3", "--sloppy", "fp16", "--output"]
    staghorn(*solve, tmp_path / "plain.h5", threads=2, check=True)
    staghorn(*solve, tmp_path / "other.h5", threads=2, env=started_in(mode), check=True)
    assert solution_bytes(tmp_path / "plain.h5") == solution_bytes(tmp_path / "other.h5")
