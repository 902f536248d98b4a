"""A process that no launcher has started does without Open MPI's daemon and folders; what it starts finds the environment as it
was."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from launcher import OPEN_MPI, launcher_of

GAUGE = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
NAMES = ["OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_orte_create_session_dirs", "OMPI_MCA_pml", "OMPI_MCA_btl",
         "HWLOC_COMPONENTS"]


def most_seen(job: subprocess.Popen, folder: Path) -> tuple[int, int]:
    """How many processes the job had at a time, and how many files and folders lay in `folder`."""
    most = most_files = 0
    while job.poll() is None:
        try:
            lists = [path.read_text() for path in Path(f"/proc/{job.pid}/task").glob("*/children")]
            files = list(folder.rglob("*"))
        except OSError:  # one went meanwhile
            continue
        most = max(most, len(" ".join(lists).split()))
        most_files = max(most_files, len(files))
        time.sleep(0.01)
    return most, most_files


OF_OPEN_MPI = pytest.mark.skipif(launcher_of() is not OPEN_MPI, reason="the choice is one of Open MPI")


@pytest.mark.parametrize("own_choice", [False, pytest.param(True, marks=OF_OPEN_MPI)])
def test_a_lone_process_starts_no_daemon_and_makes_no_folder(launch, tmp_path, own_choice):
    """With the user's own choice it does, so that this test would see both. Folders of processes that come and go at the same
    time, and that Open MPI takes for one job, would be taken from each other."""
    env = {"TMPDIR": tmp_path, "PMIX_MCA_gds": "hash"}  # a setting, and no launcher's
    if own_choice:
        env |= {NAMES[0]: "0", NAMES[1]: "1"}
    job = launch("bench", "hop", "--lattice", 4, 4, 4, 4, "--stream-mib", 16, "--seconds", 0.1, env=env)
    children, files = most_seen(job, tmp_path)
    _, stderr = job.communicate()
    assert job.returncode == 0, stderr
    assert (children == 1 and files > 0) if own_choice else (children == 0 and files == 0)


def test_the_environment_is_as_it_was():
    program = f"""
import ctypes, os, sys
sys.path[:0] = {sys.path}
os.environ["OMPI_MCA_pml"] = "ob1"
import staghorn
staghorn.Session({str(GAUGE)!r})
get = ctypes.CDLL(None).getenv
get.restype = ctypes.c_char_p
print([get(name.encode()) for name in {NAMES}])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[None, None, b'ob1', None, None]"
