"""libstaghorn.so as codes in C see it: what it exports, and what host programs of their own arithmetic get from it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from solve_files import read_solution, write_source

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "solver" / "interface"
PROGRAM = Path(__file__).parent / "one_process.c"
CHECKS = re.findall(r'\{"(\w+)", \1\}', PROGRAM.read_text())


@pytest.fixture(scope="module")
def library(program):
    path = program.parent / "libstaghorn.so"
    if not path.is_file():
        pytest.fail(f"{path} is not built")
    return path


def declared() -> set[str]:
    text = (HEADERS / "staghorn.h").read_text() + (HEADERS / "staghorn_mpi.h").read_text()
    return set(re.findall(r"STAGHORN_API [\w *]*?\*?(staghorn_\w+)\(", text))


def test_checks_of_the_c_program_are_seen():
    assert len(CHECKS) > 12


@pytest.mark.parametrize("check", CHECKS)
def test_in_one_process(run_built, check):
    result = run_built("one_process", check, threads=1)
    assert result.returncode == 0 and f"ok {check}" in result.stdout, result.stdout + result.stderr


@pytest.mark.skipif(not os.environ.get("STAGHORN_HELGRIND"), reason="half a minute of one core: STAGHORN_HELGRIND=1 runs it")
def test_two_contexts_in_two_threads_touch_nothing_in_common(run_built):
    """Helgrind sees every access to memory; helgrind.supp says what of libstdc++ it cannot know."""
    tool = ["valgrind", "--tool=helgrind", "--history-level=approx", "-q", "--error-exitcode=9",
            f"--suppressions={Path(__file__).parent / 'helgrind.supp'}"]
    result = run_built("one_process", "two_contexts_work_in_two_threads", threads=1, under=tool)
    assert result.returncode == 0 and "ok two_contexts" in result.stdout, result.stdout + result.stderr


def test_environment_is_not_read(run_built, staghorn):
    """What the program refuses, a context that was not asked to read the environment does not see."""
    hostile = {"STAGHORN_TUNING": "nonsense", "STAGHORN_CG_KERNELS": "nonsense", "STAGHORN_HOST_MEMORY": "1",
               "STAGHORN_STRESS_DELAYS": "nonsense", "STAGHORN_FAIL_MPI": "nonsense"}
    result = run_built("one_process", "full_system_is_solved", threads=1, env=hostile)
    assert result.returncode == 0, result.stdout + result.stderr
    assert staghorn("solve", "--gauge", "none", "--mass", "1", env=hostile).returncode != 0


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
def test_library_exports_the_functions_of_the_header_and_nothing_else(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in lines.splitlines() if " A " not in line}
    assert len(declared()) >= 20
    assert exported == declared()


STANDARDS = ["gcc -std=c99", "gcc -std=c11", "g++ -x c++ -std=c++98 -Wno-long-long", "g++ -x c++ -std=c++11", "g++ -x c++ -std=c++20"]


@pytest.mark.parametrize("compiler", STANDARDS)
def test_header_compiles_as(compiler, tmp_path):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler.split()[0]} on this machine")
    source = tmp_path / "alone.c"
    source.write_text("#include <staghorn.h>\nint main(void) { return staghorn_version() != STAGHORN_VERSION; }\n")
    result = subprocess.run([*compiler.split(), "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{HEADERS}", source],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


SIZES = {"geometry": 52, "options": 80, "links": 136, "action": 32, "vectors": 32, "request": 112, "result": 88, "gauge_info": 104,
         "eigen_request": 72, "eigen_info": 80}


def test_structs_have_the_sizes_that_compiled_hosts_count_on(tmp_path):
    """They grow at their end only, with a new version."""
    source = tmp_path / "sizes.c"
    source.write_text("#include <staghorn.h>\n" + "".join(
        f"_Static_assert(sizeof(staghorn_{name}) == {size}, \"{name}\");\n" for name, size in SIZES.items()))
    result = subprocess.run(["gcc", "-std=c11", "-fsyntax-only", f"-I{HEADERS}", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def solution(run_built, grid: str, order: str, env=None) -> str:
    cut = grid.split()
    ranks = 1
    for n in cut:
        ranks *= int(n)
    result = run_built("many_ranks", *cut, order, ranks=ranks, threads=1, timeout=180, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


@pytest.fixture(scope="module")
def alone(run_built):
    text = solution(run_built, "1 1 1 1", "natural")
    assert re.fullmatch(r"status 0 0 iterations \d+ hash [0-9a-f]{16}", text), text
    return text


@pytest.mark.mpi
@pytest.mark.parametrize("grid, order", [("1 2 1 1", "natural"), ("1 1 1 2", "reversed"), ("1 2 1 2", "natural"),
                                         ("1 2 1 2", "coordinates"), ("2 1 2 1", "reversed"), ("2 2 1 1", "fortran"),
                                         ("1 1 1 1", "fortran")])
def test_solution_has_the_same_bits_for_every_grid_and_order_of_ranks(run_built, alone, grid, order):
    assert solution(run_built, grid, order) == alone


@pytest.mark.mpi
def test_groups_of_ranks_have_contexts_side_by_side(run_built, alone):
    """Hashes are summed over all ranks: that of two groups is twice that of one."""
    result = run_built("many_ranks", 1, 2, 1, 1, "halves", ranks=4, threads=1, timeout=180)
    words, _, digits = alone.rpartition(" ")
    expected = f"{words} {2 * int(digits, 16) % 2**64:016x}"
    assert result.stdout.splitlines() == [expected, expected], result.stdout + result.stderr


@pytest.mark.mpi
def test_one_rank_stops_all(run_built):
    text = solution(run_built, "1 2 1 2", "stop")
    assert text.startswith("status 4 4 iterations 20 "), text


@pytest.mark.mpi
def test_one_rank_withholds_what_all_have_solved(run_built):
    text = solution(run_built, "1 2 1 2", "withhold")
    assert text.startswith("status 5 5 iterations 0 ") and text == solution(run_built, "1 1 1 1", "withhold")


@pytest.mark.mpi
def test_two_ranks_in_one_place_are_refused(run_built):
    text = solution(run_built, "1 2 1 1", "wrong")
    assert text.startswith("create -2 ") and "geometry.coord" in text, text


@pytest.mark.mpi
def test_grid_of_another_number_of_ranks_is_refused(run_built):
    result = run_built("many_ranks", 1, 1, 1, 4, "natural", ranks=2, threads=1)
    assert result.stdout.startswith("create -2 "), result.stdout


EXTENTS = (4, 6, 4, 8)  # of many_shifts.c
FP32, NO_SLOPPY, AUTO_SLOPPY = 1, 3, 4


def test_shifts_tolerances_and_sums_by_the_hosts_operator(run_built):
    result = run_built("many_shifts", threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


@pytest.mark.parametrize("sloppy, word", [(NO_SLOPPY, "none"), (FP32, "fp32"), (AUTO_SLOPPY, "auto")])
def test_offsets_of_masses_have_the_bits_of_the_program(staghorn, run_built, tmp_path, sloppy, word):
    """4 m^2 and its root are exact inverses, so that the host's offsets are the program's masses."""
    gauge = tmp_path / "gauge.h5"
    staghorn("generate", "--lattice", *EXTENTS, "--beta", 6, "--sweeps", 5, "--seed", 5, "--device", "cpu", "--output", gauge, check=True)
    with h5py.File(gauge) as file:
        file["links"][...].astype(complex).tofile(tmp_path / "links")
    rng = np.random.default_rng(3)
    source = rng.normal(size=(*EXTENTS[::-1], 3)) + 1j * rng.normal(size=(*EXTENTS[::-1], 3))
    source.tofile(tmp_path / "source")
    staghorn("solve", "--gauge", gauge, "--source", f"file:{write_source(tmp_path / 'source.h5', source)}", "--masses", "0.1,0.2,0.4",
             "--system", "even", "--sloppy", word, "--output", tmp_path / "x.h5", check=True)
    result = run_built("many_shifts", tmp_path / "x", sloppy, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    x = np.fromfile(tmp_path / "x").view(complex).reshape(3, *EXTENTS[::-1], 3)
    assert np.abs(x).max() > 0 and np.array_equal(x, read_solution(tmp_path / "x.h5"))
