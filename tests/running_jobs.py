"""The processes of a job that runs, and of one that is over."""

from __future__ import annotations

import time
from pathlib import Path

from launcher import rank_in


def ranks_below(parent: int) -> dict[int, int]:
    """Process ids by rank of the program's processes among the descendants of `parent`."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(stat.read_text().rsplit(")", 1)[1].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            continue
    found, todo = {}, [parent]
    while todo:
        todo += (below := children.get(todo.pop(), []))
        for process in below:
            try:
                environment = Path(f"/proc/{process}/environ").read_bytes()
            except OSError:
                continue
            if (rank := rank_in(environment)) is not None:
                found[rank] = process
    return found


def wait_until(holds, seconds=180):
    """Returns once holds() is true, or after so many seconds."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.001)


def wait_until_gone(processes, seconds=180):
    """Returns once none of these processes is left but as a zombie; fails where that takes longer."""
    end = time.monotonic() + seconds
    while alive := [p for p in processes if is_alive(p)]:
        assert time.monotonic() < end, f"left behind: {alive}"
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
