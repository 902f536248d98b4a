"""How long an OpenMP thread that waits for another keeps its core busy: see halo/waiting_threads.hpp.

libgomp reads the length of the spin from the environment when it is loaded. If another package has loaded the same libgomp
before, its choice stays: then set GOMP_SPINCOUNT before Python starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

SHORT_SPIN = "1000"  # looks a waiting thread takes before it sleeps


@contextmanager
def short_spin() -> Iterator[None]:
    """Within it GOMP_SPINCOUNT is set, unless the user has chosen by GOMP_SPINCOUNT or OMP_WAIT_POLICY."""
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SHORT_SPIN
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
