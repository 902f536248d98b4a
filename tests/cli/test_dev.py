"""`./dev demo`, `./dev build` and `./dev test`: what they ask CMake for, what they show, and how one goes on after the other.

CMake and nvidia-smi are small scripts here: the first notes how it was called, and "builds" a link to the program under test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAMP = Path("build/built-for-demo")

CMAKE = """#!/usr/bin/env bash
if [[ $2 == cmake/search ]]; then mkdir -p build/search && touch build/search/missing; exit; fi
echo "$*" >>calls
if [[ $1 == --build ]]; then
  echo "[1/3] Building"; echo "[2/3] Building"
  if [[ -f broken ]]; then echo "sums.cpp:7: error: no such sum"; exit 3; fi
  sleep "${SLOW:-0}"
  ln -sf PROGRAM build/staghorn
else
  mkdir -p build && printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\\nCMAKE_GENERATOR:INTERNAL=Ninja\\n' "$PWD" >build/CMakeCache.txt
fi
"""


# Has all packages, so that none is installed. What a test does not look at is left out.
PYTHON = """#!/bin/sh
case "$LEFT_OUT" in *"$2"*) exit 0 ;; esac
exec PYTHON "$@"
"""


def script(path: Path, text: str):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def project(program, tmp_path):
    """A folder with `dev` and what the demo reads."""
    folder, tools = tmp_path / "project", tmp_path / "tools"
    folder.mkdir(), tools.mkdir()
    shutil.copy(ROOT / "dev", folder)
    for name in ("configs", "python"):
        (folder / name).symlink_to(ROOT / name)
    script(tools / "cmake", CMAKE.replace("PROGRAM", str(program)))
    packages = [re.search(rf'{name}="(.*)"', (ROOT / "dev").read_text())[1] for name in ("python_packages", "pyquda_package")]
    (folder / ".venv/bin").mkdir(parents=True)
    script(folder / ".venv/bin/python", PYTHON.replace("PYTHON", sys.executable))
    (folder / ".venv/packages").write_text(" ".join(packages) + "\n")
    return folder


def dev(project: Path, *words: str, gpu: str | None = None, **environment: str) -> subprocess.CompletedProcess:
    script(project.parent / "tools" / "nvidia-smi", f"#!/bin/sh\necho {gpu}\n" if gpu else "#!/bin/sh\nexit 9\n")
    paths = f"{project.parent / 'tools'}:{os.environ['PATH']}"
    return subprocess.run([project / "dev", *words], capture_output=True, text=True, timeout=180,
                          env={**os.environ, "PATH": paths, "STAGHORN_JOBS": "2", **environment})


def path_without(project: Path, missing: set[str]) -> str:
    """A PATH with what this machine has, but for `missing`, and where nothing can be installed."""
    tools = project.parent / "system"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(":")):
        for entry in os.scandir(folder) if os.path.isdir(folder) else []:
            if entry.name not in missing | {"apt-get", "sudo"}:
                (tools / entry.name).unlink(missing_ok=True)
                (tools / entry.name).symlink_to(entry.path)
    return f"{project.parent / 'tools'}:{tools}"


def calls(project: Path) -> list[str]:
    """How CMake was called since the last question."""
    lines = (project / "calls").read_text().splitlines()
    (project / "calls").unlink()
    return lines


def test_demo_builds_for_the_cpu_alone_and_shows_certificate_and_plot(project):
    done = dev(project, "demo", SLOW="6")
    assert done.returncode == 0, done.stderr
    configure, build = calls(project)
    assert "-DSTAGHORN_CUDA=OFF" in configure and "PYTHON" not in configure
    assert "-DSTAGHORN_QUICK_BUILD=ON" in configure and "INSTRUCTION" not in configure  # those of this machine
    assert re.search(r"dev: building the program for the CPU .*: some 3 minutes of processor time the first time, 2 on 2 cores", done.stdout)
    assert "--target staghorn" in build
    assert re.search(r"dev: 2 of 3 steps of the build done, \d+ s", done.stdout)  # after 5 seconds
    for shown in ("CERTIFICATE  certified", "|b - M x| / |b|", "residuals.png", "./dev build adds the rest"):
        assert shown in done.stdout, shown
    assert (project / "demo-output" / "residuals.png").stat().st_size > 1000


BARE_PYTHON = """#!/bin/sh
case "$1 $2" in
  "-c import matplotlib") test -e installed ;;
  "-m venv") mkdir -p "$3/bin" && ln -sf "$0" "$3/bin/python" ;;
  "-m pip") STATUS && touch installed ;;
  *) exec PYTHON "$@" ;;
esac
"""


@pytest.mark.parametrize("status, shown", [("true", "residuals.png"), ("false", "no picture of the plot")])
def test_demo_installs_what_draws_pictures_while_it_builds(project, status, shown):
    shutil.rmtree(project / ".venv")
    bare = project.parent / "tools" / "bare-python"
    script(bare, BARE_PYTHON.replace("STATUS", status).replace("PYTHON", sys.executable))
    done = dev(project, "demo", PYTHON=str(bare), SLOW="2")
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout and "|b - M x| / |b|" in done.stdout
    assert done.stdout.index("installing into .venv/: numpy matplotlib") < done.stdout.index("CERTIFICATE  certified")


@pytest.mark.parametrize("jobs, cuda", [("8", "AUTO"), ("2", "OFF")])
def test_demo_builds_for_the_gpu_that_is_there_where_there_are_cores_for_it(project, jobs, cuda):
    done = dev(project, "demo", gpu="9.0", STAGHORN_JOBS=jobs, LEFT_OUT="staghorn.plot")
    assert done.returncode == 0, done.stderr
    configure = calls(project)[0]
    assert re.findall(r"-DSTAGHORN_CUDA=(\w+)", configure)[-1] == cuda
    assert "ARCHITECTURES" not in configure  # those of this machine
    assert ("for its GPU too: ./dev build)" in done.stdout) == (cuda == "OFF")


def test_build_adds_the_rest_and_a_later_demo_takes_nothing_away(project):
    dev(project, "demo", LEFT_OUT="staghorn.plot")
    assert (project / STAMP).exists()
    calls(project)
    assert dev(project, "build").returncode == 0
    configure, build = calls(project)
    for option in ("STAGHORN_CUDA", "STAGHORN_CUDA_ARCHITECTURES", "STAGHORN_INSTRUCTION_SETS", "STAGHORN_QUICK_BUILD",
                   "STAGHORN_FOLDERS_TOGETHER", "CMAKE_CXX_FLAGS_RELEASE"):
        assert f"-U {option}" in configure
    assert "-DSTAGHORN_PYTHON=ON" in configure and "--target" not in build
    assert not (project / STAMP).exists()

    assert dev(project, "demo", LEFT_OUT="staghorn.plot").returncode == 0
    configure, build = calls(project)
    assert "STAGHORN_CUDA" not in configure and "INSTRUCTION" not in configure and "--target staghorn" in build
    assert dev(project, "build").returncode == 0
    assert "-U" not in calls(project)[0]


def test_tests_add_to_a_build_what_it_lacks(project):
    def configured(*words: str) -> tuple[str, str]:
        """How CMake was called, and what was said; pytest is left out."""
        done = dev(project, *words, LEFT_OUT="pytest")
        assert done.returncode == 0 and "installing" not in done.stdout, done.stderr
        return calls(project)[0], done.stdout

    configure, said = configured("build")
    assert configure.endswith("-DSTAGHORN_TESTS=OFF") and "INSTRUCTION" not in configure and "ARCHITECTURES" not in configure
    assert re.search(r"dev: building the program and the Python package .*: some (\d+) minutes of processor time", said)
    assert "-DSTAGHORN_TESTS" not in configured("build")[0]
    configure, said = configured("test")
    assert configure.endswith("-DSTAGHORN_TESTS=ON -DSTAGHORN_INSTRUCTION_SETS=all") and "-U" not in configure
    assert re.search(r"dev: processor time: [\d.]+ minutes until all was built, [\d.]+ with the tests", said)
    configure, said = configured("build")  # what ./dev test made stays
    assert "STAGHORN_TESTS" not in configure and "INSTRUCTION" not in configure and "-U" not in configure


def test_a_build_that_fails_says_why(project):
    (project / "broken").touch()
    done = dev(project, "demo")
    assert done.returncode != 0
    assert "sums.cpp:7: error: no such sum" in done.stderr and "build/logs/build.log" in done.stderr
    assert "CERTIFICATE" not in done.stdout


def test_mpich_is_tested_beside_another_mpi_or_named(project):
    path = path_without(project, {"mpicxx.mpich", "mpiexec.mpich"})
    done = dev(project, "test", PATH=path, LEFT_OUT="pytest")
    assert "MPICH: not installed (mpich libmpich-dev), its tests are left out" in done.stdout and not any("build-mpich" in call for call in calls(project))
    for command in ("mpicxx.mpich", "mpiexec.mpich"):
        script(project.parent / "tools" / command, "#!/bin/sh\n")
    assert dev(project, "test", PATH=path, LEFT_OUT="pytest").returncode == 0
    configure, build = [call for call in calls(project) if "build-mpich" in call]
    assert "-DMPI_CXX_COMPILER=mpicxx.mpich" in configure and "--target staghorn many_solves yielding_progress" in build
    dev(project, "test", "tests/io", PATH=path, LEFT_OUT="pytest")
    assert not any("build-mpich" in call for call in calls(project))


@pytest.mark.parametrize("missing", [{"mpicxx", "mpirun"}, {"mpirun", "ninja"}])
def test_where_nothing_can_be_installed_a_build_goes_on_without_an_mpi_only(project, missing):
    done = dev(project, "demo", PATH=path_without(project, missing), LEFT_OUT="staghorn.plot")
    if missing == {"mpicxx", "mpirun"}:
        assert done.returncode == 0, done.stderr
        assert "no MPI (libopenmpi-dev openmpi-bin), and no apt-get: the build is for one process" in done.stdout
        assert "CERTIFICATE  certified" in done.stdout
    else:
        assert done.returncode == 1 and not (project / "calls").exists()
        assert "Please install (Debian names): ninja-build openmpi-bin" in done.stderr


def test_mutations_are_listed(project):
    (project / "tests").symlink_to(ROOT / "tests")
    found = dev(project, "mutate", "--list")
    assert found.returncode == 0, found.stderr
    assert "the stop rule" in found.stdout


def test_arm_names_the_packages_that_are_missing(project):
    """Where nothing can be installed."""
    done = dev(project, "arm", PATH=path_without(project, {"aarch64-linux-gnu-g++", "qemu-aarch64"}))
    assert done.returncode == 1 and not (project / "calls").exists()
    assert "Please install (Debian names): g++-aarch64-linux-gnu qemu-user" in done.stderr
