"""Loading the compiled modules: how their threads wait, and what to do where a library of the machine is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from .waiting_threads import short_spin

_MISSING = re.compile(r"(?P<library>\S+): cannot open shared object file")  # the words of the loader

_HOW = {"libmpi": "the MPI that Staghorn was built with, which one process needs, too (Open MPI 4: libopenmpi3 of Debian and Ubuntu, "
                  "openmpi of conda-forge; STAGHORN_MPI=OFF pip install . builds Staghorn without)",
        "libgomp": "the OpenMP threads of gcc (libgomp1 of Debian and Ubuntu)"}


@contextmanager
def loading() -> Iterator[None]:
    """For the import of a compiled module. Where a library is missing, the ImportError says which, and how to get it."""
    try:
        with short_spin():  # read when the module loads libgomp
            yield
    except ImportError as error:
        missing = _MISSING.search(str(error))
        if missing is None:
            raise
        library = missing["library"]
        what = _HOW.get(library.split(".")[0], "a library that Staghorn was built with")
        raise ImportError(f"{library} was not found: {what}. Install it, or name its folder in LD_LIBRARY_PATH "
                          "before Python starts.") from error
