"""Started by the launcher of another MPI, N processes would each do the whole work: they say so and end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from launcher import LAUNCHERS, MPICH, OPEN_MPI, launcher_of
from program_under_test import built_with_mpi
from python_processes import PACKAGE

# A shell that srun has started for a person, and a batch script, in which the program runs once.
SRUN_PTY = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0", "SLURM_PTY_PORT": "40001"}
BATCH = {"SLURM_NTASKS": "4", "SLURM_NPROCS": "4", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "7"}

SEVERAL = [
    ({"PMI_SIZE": "4", "PMI_RANK": "0", "MPI_LOCALNRANKS": "4", "MPI_LOCALRANKID": "0"}, "4 (PMI_SIZE)"),  # Hydra
    ({"PMI_SIZE": "2", "SLURM_STEP_NUM_TASKS": "1"}, "2 (PMI_SIZE)"),
    ({"OMPI_COMM_WORLD_SIZE": "4"}, "4 (OMPI_COMM_WORLD_SIZE)"),
    ({"MV2_COMM_WORLD_SIZE": "3"}, "3 (MV2_COMM_WORLD_SIZE)"),
    ({"PALS_SIZE": "8", "PALS_RANKID": "0"}, "8 (PALS_SIZE)"),
    ({"PALS_NRANKS": "8", "PALS_RANKID": "0"}, "8 (PALS_NRANKS)"),
    ({"PMI_CRAY_NUM_RANKS": "3"}, "3 (PMI_CRAY_NUM_RANKS)"),
    ({"PMIX_SIZE": "4", "PMIX_RANK": "0"}, "4 (PMIX_SIZE)"),
    ({"PALS_RANKID": "1"}, "several (PALS_RANKID is 1)"),
    ({"PMI_RANK": "3"}, "several (PMI_RANK is 3)"),
    ({"PMIX_RANK": "1"}, "several (PMIX_RANK is 1)"),
    ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, "2 (SLURM_STEP_NUM_TASKS)"),  # srun --mpi=pmix
    ({"SLURM_STEP_NUM_TASKS": "3", "SLURM_NTASKS": "3"}, "3 (SLURM_STEP_NUM_TASKS)"),
    ({"MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "0"}, "2 (MPI_LOCALNRANKS)"),
    ({"FLUX_JOB_SIZE": "2", "FLUX_TASK_RANK": "0"}, "2 (FLUX_JOB_SIZE)"),
    ({"JSM_NAMESPACE_SIZE": "2"}, "2 (JSM_NAMESPACE_SIZE)"),
    ({"ALPS_APP_PE": "5"}, "several (ALPS_APP_PE is 5)"),
]
ALONE = [
    {},
    BATCH,
    SRUN_PTY,
    {"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "2"},  # mpirun -n 1 in a step of two daemons
    {"PMI_SIZE": "1", "PMI_RANK": "0", "MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "0"},
    {"PMI_SIZE": "many"},
    {"PALS_RANKID": "0"},
    {"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"},  # srun --exact --ntasks=1
    {"PMI_SIZE": "4", "STAGHORN_ALONE": "1"},
    {"PMIX_RANK": "1", "STAGHORN_ALONE": "1"},
]
WHY = "finds no other" if built_with_mpi() else "this build of Staghorn has no MPI"


def named(value):
    return ",".join(f"{name}={text}" for name, text in value.items()) or "none" if isinstance(value, dict) else ""


@pytest.mark.parametrize("variables, found", SEVERAL, ids=named)
def test_one_of_several_processes_refuses_to_do_the_whole_work(staghorn, expect_error, small_gauge, variables, found):
    result = staghorn("inspect", small_gauge, env=variables)
    expect_error(result, 1, "processes: expected one, as ", WHY, f", found {found}: each would do the whole work.",
                 "For processes with different work set STAGHORN_ALONE=1.")
    assert result.stdout == ""


@pytest.mark.parametrize("variables", ALONE, ids=named)
def test_one_process_works(staghorn, small_gauge, variables):
    assert "4x6x8x10" in staghorn("inspect", small_gauge, env=variables, check=True).stdout


def test_questions_are_answered_in_any_number(staghorn):
    for question in ("--help", "--version"):
        assert staghorn(question, env={"PMI_SIZE": "4"}).returncode == 0


@pytest.mark.mpi
def test_ranks_that_find_each_other_work(staghorn, small_gauge):
    staghorn("inspect", small_gauge, ranks=2, env={"PMI_SIZE": "4", "PALS_SIZE": "4"}, check=True)


OTHERS = [launcher for launcher in LAUNCHERS if launcher is not launcher_of() or not built_with_mpi()]
SIZES = {OPEN_MPI: "OMPI_COMM_WORLD_SIZE", MPICH: "PMI_SIZE"}

CONTEXT = """
import staghorn
from mpi4py import MPI
for comm in (MPI.COMM_WORLD, MPI.COMM_SELF, None):
    try:
        print(staghorn.Context((4, 4, 4, 4), comm=comm).local)
    except staghorn.Error as error:
        print(error.kind, error)
"""


@pytest.mark.skipif(not built_with_mpi(), reason="a build without MPI")
@pytest.mark.parametrize("alone", [False, True])
def test_python_refuses_the_communicator_of_another_mpi_than_the_launchers(alone):
    pytest.importorskip("mpi4py")
    size = next(SIZES[launcher] for launcher in OTHERS)
    env = {**os.environ, **launcher_of().variables, "PYTHONPATH": PACKAGE, size: "4", **({"STAGHORN_ALONE": "1"} if alone else {})}
    result = subprocess.run([sys.executable, "-c", CONTEXT], capture_output=True, text=True, env=env)
    lines = result.stdout.splitlines()
    assert result.returncode == 0 and len(lines) == 3, result.stdout + result.stderr
    for line in lines[:2]:
        assert line == "(4, 4, 4, 4)" if alone else line.startswith(f"mpi processes: expected one, as the MPI of this build ({launcher_of().mpi}")
    assert lines[2] == "(4, 4, 4, 4)"  # this process alone: it asked for that


@pytest.mark.parametrize("launcher", OTHERS, ids=lambda launcher: launcher.mpi)
def test_the_launcher_of_another_mpi_is_refused(program, small_gauge, tmp_path, launcher):
    """Each process says so, and none touches the files."""
    if launcher.path is None:
        pytest.skip(f"no launcher of {launcher.mpi} on this machine")
    solve = [program, "solve", "--gauge", small_gauge, "--mass", "0.1", "--color", "0", "--output", tmp_path / "x.h5", "--report", tmp_path / "x.json"]
    # Open MPI ends the others where one ends with an error: each waits for them.
    command = ["sh", "-c", '"$@"; status=$?; sleep 1; exit $status', "sh", *solve]
    result = subprocess.run([*launcher.command(3), *command], capture_output=True, text=True, timeout=180, env={**os.environ, **launcher.variables})
    assert result.returncode != 0 and result.stderr.count(f"found 3 ({SIZES[launcher]})") == 3, result.stdout + result.stderr
    assert result.stderr.count("Start them with the launcher of that MPI" if built_with_mpi() else "Build Staghorn where an MPI is found") == 3
    assert not list(tmp_path.iterdir())
