"""Locks of names, as jobs leave them beside the files that they write to."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def lock_text(**changes) -> str:
    """The lock of this process, which lives as long as the test; or of another owner."""
    stat = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    machine = Path("/etc/machine-id")
    entries = {"host": socket.gethostname(), "machine": machine.read_text().strip() if machine.exists() else "",
               "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(), "processes": os.readlink("/proc/self/ns/pid"),
               "process": os.getpid(), "thread": os.getpid(), "start": stat[19], "mark": "00c0ffee", "since": "2026-01-02T03:04:05Z",
               "command": "another job", **changes}
    return "".join(f"{name} {value}\n" for name, value in entries.items()) + "end\n"


def lock(path: Path, **changes) -> Path:
    """Puts a lock on `path`."""
    file = path.with_name(f".{path.name}.lock")
    file.write_text(lock_text(**changes))
    return file
