"""Fixtures that every test may use: the program, the reference data, and small gauge configurations."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# One thread unless a test asks for more: small lattices gain nothing from two, and threads that wait for each other on
# busy cores lose a factor of twenty. Where the number of threads matters, tests set it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Leave the user's cache folder alone; tests of tuning name their own.
os.environ.setdefault("STAGHORN_TUNING", "off")

# Solves inside this process share the cores with others: threads that wait must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for what the folders of tests share

from installed_package import run  # noqa: E402
from launcher import launcher_of, ranks_command  # noqa: E402
from program_under_test import PROGRAM, ROOT, built_program, built_with_mpi  # noqa: E402

# The package as built, with its compiled module. Without a build: its sources, whose NumPy reference operator needs no module.
BUILT_PACKAGE = built_program("python")
sys.path.insert(0, str(BUILT_PACKAGE if (BUILT_PACKAGE / "staghorn").is_dir() else ROOT / "python"))


def find_reference_data() -> tuple[Path | None, str]:
    """The folder with real configurations and independent results, or None and why not."""
    text = os.environ.get("STAGHORN_REFERENCE_DATA")
    if not text:
        return None, "reference data: absent (STAGHORN_REFERENCE_DATA is not set); tests marked 'reference' are skipped"
    folder = Path(text)
    if not (folder / "reference.json").is_file():
        return None, f"reference data: absent (STAGHORN_REFERENCE_DATA={text} has no reference.json)"
    return folder, f"reference data: {folder}"


def pytest_report_header(config):
    lines = [f"program: {PROGRAM}{'' if PROGRAM.is_file() else ' (not built)'}", find_reference_data()[1]]
    if launcher_of().path is None:
        lines.append(f"a launcher of {launcher_of().mpi}: absent; tests marked 'mpi' are skipped")
    return lines


def pytest_collection_modifyitems(config, items):
    has_gpu = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
    for item in items:
        if item.get_closest_marker("gpu") and not has_gpu:
            item.add_marker(pytest.mark.skip(reason="no GPU on this machine"))
        if item.get_closest_marker("mpi") and (launcher_of().path is None or not built_with_mpi()):
            item.add_marker(pytest.mark.skip(reason=f"no launcher of {launcher_of().mpi} on this machine, or a build without MPI"))


@pytest.fixture(scope="session")
def program() -> Path:
    """The path of the program under test (STAGHORN_PROGRAM, or build/staghorn)."""
    if not PROGRAM.is_file():
        pytest.fail(f"{PROGRAM} does not exist: run ./dev build, or set STAGHORN_PROGRAM")
    return PROGRAM


def mpi_command(ranks: int) -> list[str]:
    """What starts `ranks` ranks. Skips where the program is for one process."""
    if ranks > 1 and not built_with_mpi():
        pytest.skip("a build without MPI")
    return ranks_command(ranks)


def program_environment(ranks: int, threads: int | None, extra: dict | None) -> dict:
    environment = {**os.environ, **launcher_of().variables}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    elif ranks > 1:
        environment["OMP_NUM_THREADS"] = "1"
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    environment.update(extra or {})
    return environment


@pytest.fixture(scope="session")
def run_built(program):
    """run_built(name, *args, ranks=1, threads=None, env=None, timeout=600, cwd=None, under=()) -> CompletedProcess (text) of a
    program built beside the one under test; `under`: words before its name."""

    def run(name, *args, ranks=1, threads=None, env=None, timeout=600, cwd=None, under=()):
        path = built_program(name)
        if not path.is_file() and not built_with_mpi():
            pytest.skip(f"a build without MPI has no {name}")
        if not path.is_file():
            pytest.fail(f"{path} is not built (STAGHORN_TESTS=ON builds it)")
        return subprocess.run([*mpi_command(ranks), *under, str(path), *map(str, args)], capture_output=True, text=True,
                              timeout=timeout, cwd=cwd, env=program_environment(ranks, threads, env))

    return run


@pytest.fixture(scope="session")
def staghorn(program, run_built):
    """staghorn(*args, ranks=1, threads=None, env=None, check=False, timeout=600) -> CompletedProcess (text).

    With check=True a non-zero exit status fails the test and shows what the program printed.
    """

    def run(*args, check=False, **how):
        result = run_built(program.name, *args, **how)
        if check and result.returncode != 0:
            pytest.fail(f"{' '.join(result.args)}\nexit status {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result

    return run


@pytest.fixture(scope="session")
def launch(program):
    """launch(*args, ranks=1, env=None) -> a running Popen with text pipes; the caller ends it."""

    def start(*args, ranks=1, env=None):
        return subprocess.Popen(mpi_command(ranks) + [str(program)] + [str(a) for a in args], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=program_environment(ranks, None, env))

    return start


@pytest.fixture(scope="session")
def exchange_stress(run_built):
    """exchange_stress(transport, space, grid, seed) -> what the program of that name (unit/exchange_stress.cpp) printed.

    A thousand exchanges among ranks on `grid` ("x,y,z,t") with delays of up to 200 microseconds wherever they meet. Skips
    where these ranks cannot use the transport.
    """

    def run(transport, space, grid, seed):
        cut = grid.split(",")
        result = run_built("exchange_stress", transport, space, 1000, *cut, ranks=math.prod(map(int, cut)), threads=1,
                           timeout=180, env={"STAGHORN_STRESS_DELAYS": f"200,{seed}"})
        if result.returncode == 77:
            pytest.skip(result.stdout.strip())
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of reference data; skips, saying why, when there is none."""
    folder, reason = find_reference_data()
    if folder is None:
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def small_gauge(staghorn, tmp_path_factory) -> Path:
    """A hot configuration with four different extents, X Y Z T = 4 6 8 10, fp64, in Staghorn's HDF5."""
    path = tmp_path_factory.mktemp("gauge") / "hot_4x6x8x10.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--start", "hot", "--sweeps", 0, "--beta", 5.7, "--seed", 7,
             "--format", "hdf5", "--precision", "fp64", "--output", path, check=True)
    return path


@pytest.fixture(scope="session")
def rough_gauge(staghorn, tmp_path_factory) -> Path:
    """A configuration of 4x6x8x10 that is no longer random: its smeared links are well conditioned, as real ones are."""
    path = tmp_path_factory.mktemp("gauge") / "rough_4x6x8x10.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--beta", 6, "--sweeps", 10, "--seed", 5, "--device", "cpu",
             "--output", path, check=True)
    return path


@pytest.fixture(scope="session")
def installed(program, tmp_path_factory) -> Path:
    """The prefix of the installed package, moved to another place since it was installed."""
    build, prefix = program.parent, tmp_path_factory.mktemp("installed") / "first-place"
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on this machine")
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip(f"{build} is not a build folder")
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix.rename(prefix.parent / "second-place")


@pytest.fixture(scope="session")
def expect_error():
    """expect_error(result, status, *words) -> the message. Asserts that exit status, and one message of all ranks together that
    has all the words."""

    def check(result, status, *words):
        assert result.returncode == status, result.stderr
        lines = [line for line in result.stderr.splitlines() if line.startswith("staghorn: ")]  # the launcher adds its own
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("staghorn: error: ")
        missing = [word for word in words if str(word) not in lines[0]]
        assert not missing, (lines[0], missing)
        return lines[0]

    return check
