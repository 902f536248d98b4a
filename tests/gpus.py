"""Which GPUs and transports the tests find on this machine."""

from __future__ import annotations

import functools
import os
import re
import subprocess


# What the loop of CG runs as on a GPU by STAGHORN_CG_KERNELS, on few sites and without NCCL.
LOOP_OF_CHOICE = {"one": "one kernel", "wide": "wide kernel", "two": "two kernels"}


@functools.cache
def gpu_count() -> int:
    """GPUs that programs may use: those of the machine, or fewer where CUDA_VISIBLE_DEVICES says so."""
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    found = len(listed.stdout.splitlines()) if listed.returncode == 0 else 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return found if visible is None else min(found, len(visible.split(",")) if visible else 0)


def transport_obstacle(stderr: str) -> str:
    """The words of what a program wrote that say why its ranks cannot use a transport; '': none do."""
    found = re.search(r"transport \S+ cannot be used here.*", stderr)
    return found.group() if found else ""
