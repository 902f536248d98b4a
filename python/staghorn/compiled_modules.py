"""Loading the compiled modules: how their threads wait, and what to do where a library of the machine is missing.

libgomp reads from the environment, when it is loaded, how long a thread that waits for another keeps its core busy: see
halo/waiting_threads.hpp. If another package has loaded the same libgomp before, its choice stays: then set GOMP_SPINCOUNT
before Python starts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

SHORT_SPIN = "1000"  # looks a waiting thread takes before it sleeps

_MISSING = re.compile(r"(?P<library>\S+): cannot open shared object file")  # the words of the loader

_HOW = {"libmpi": "the MPI that Staghorn was built with, which one process needs, too (Open MPI 4: libopenmpi3 of Debian and Ubuntu, "
                  "openmpi of conda-forge; STAGHORN_MPI=OFF pip install . builds Staghorn without)",
        "libgomp": "the OpenMP threads of gcc (libgomp1 of Debian and Ubuntu)"}


@contextmanager
def loading() -> Iterator[None]:
    """For the import of a compiled module. Where a library is missing, the ImportError says which, and how to get it."""
    try:
        with _short_spin():  # read when the module loads libgomp
            yield
    except ImportError as error:
        missing = _MISSING.search(str(error))
        if missing is None:
            raise
        library = missing["library"]
        what = _HOW.get(library.split(".")[0], "a library that Staghorn was built with")
        raise ImportError(f"{library} was not found: {what}. Install it, or name its folder in LD_LIBRARY_PATH "
                          "before Python starts.") from error


@contextmanager
def _short_spin() -> Iterator[None]:
    """Within it GOMP_SPINCOUNT is set, unless the user has chosen by GOMP_SPINCOUNT or OMP_WAIT_POLICY."""
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SHORT_SPIN
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
