"""How tests start ranks: by the launcher of the MPI that the program under test was built with."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from program_under_test import PROGRAM, built_program


@dataclass(frozen=True, eq=False)
class Launcher:
    """Of one MPI. `options`: more ranks than cores, unbound. `variables`: allowed as root too, and ranks that wait give their core away."""

    mpi: str  # as `staghorn --version` begins its name
    names: tuple[str, ...]  # of the command, the first that is there
    options: tuple[str, ...]
    binding: str  # the option that one word of a binding follows
    variables: dict[str, str]
    advice: str  # on binding, as the note of the program begins
    ended: tuple[int, ...]  # statuses that it may tell, where a rank ends the job, instead of that of this rank
    rank: str  # the variable that tells a process its number

    @property
    def path(self) -> str | None:
        """Of the command; None where there is none."""
        return next((name for name in self.names if shutil.which(name)), None)

    def command(self, ranks: int, *more: str, binding: str = "none") -> list[str]:
        return [str(self.path), *self.options, self.binding, binding, *more, "-n", str(ranks)]


OPEN_MPI = Launcher("Open MPI", ("mpirun.openmpi", "mpirun"), ("--oversubscribe",), "--bind-to",
                    {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                     "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}, "mpirun --bind-to", (), "OMPI_COMM_WORLD_RANK")
# Debian's waits without giving its core away (tests/mpi/yielding_progress.c), and its UCX looks for networks. The wheels of mpi4py
# look for the MPICH ABI by its usual name, which Debian's library does not have: the build leaves a link of that name.
FOR_MPICH = built_program("tests/unit/mpich")
MPICH = Launcher("MPICH", ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"), (), "-bind-to",
                 {"UCX_TLS": "self,sm,tcp", "MPI4PY_MPIABI": "mpich",
                  **({"LD_PRELOAD": str(FOR_MPICH / "libyielding_progress.so"), "LD_LIBRARY_PATH": str(FOR_MPICH)} if FOR_MPICH.is_dir() else {})},
                 "mpiexec -bind-to", (9, 15), "PMI_RANK")
LAUNCHERS = (OPEN_MPI, MPICH)


@cache
def launcher_of(program: Path = PROGRAM) -> Launcher:
    """Of the MPI that this program names; Open MPI's where it does not run."""
    if not Path(program).is_file():
        return OPEN_MPI
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return next((launcher for launcher in LAUNCHERS if launcher.mpi in version), OPEN_MPI)


def ranks_command(ranks: int, program: Path = PROGRAM) -> list[str]:
    """What stands before the name of a program for so many ranks: nothing before that of one."""
    return launcher_of(program).command(ranks) if ranks > 1 else []


def rank_in(environment: bytes) -> int | None:
    """The number of a process by its environment, as /proc/*/environ has it; None: no launcher has started it."""
    found = re.search(rb"(?:^|\0)" + launcher_of().rank.encode() + rb"=(\d+)", environment)
    return int(found[1]) if found else None
