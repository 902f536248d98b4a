"""Context: a lattice, its ranks, threads and GPU. Gauges live in it. There is no other state: several contexts may work in
several threads at once, one thread at a time in each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from .compiled_modules import loading
from .errors import Error, verify_is_an_argument
from .fields import LINK_ORDERS, OLD_LINK_ORDERS, OLD_VECTOR_ORDERS, VECTOR_ORDERS, Extents, SupportsDLPack, order_of
from .fields import vectors as vector_fields
from .gauge import Gauge
from .options import OPERATOR_OPTIONS, SESSION_OPTIONS, list_options, words
from .paths import PATHS, PathLike
from .report import Report
from .structs import Boundary, boundary_text, link_layout, old_name, vector_layout
from .together import collective, is_null, made_together, meet

with loading():
    from . import _interface as native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import ContextWords, FileWords, GaugeWords


class Context:
    """A lattice of extents X, Y, Z, T, whole in this process or cut among the ranks of a communicator.

    lattice      extents (X, Y, Z, T), or the path of a gauge file that has them; None: that of the file `fat`
    comm         communicator of mpi4py, of which a duplicate is kept; None: this process alone, and no function of MPI is called
    grid         ranks in each direction; None: as leaves the least surface
    coord        place of this rank in the grid; None: by rank, x fastest
    threads      of OpenMP within calls of this context; 0: as OMP_NUM_THREADS says
    stream       CUDA stream, by its address, on which arrays on the GPU are ready; None: the default stream
    tuning_file  remembers launches of GPU kernels; None: as `tuning` says, or without the environment none
    environment  whether variables STAGHORN_... are read
    log          called as log(level, text) with warnings (level 0)

    The other options are those of the program. Those of links and numbers hold for all gauges and solves of the context that say
    nothing else. `device` may be the number of a GPU.

    {options}

    Local extents are even; where the grid does not divide the lattice evenly, the first parts are wider by 2. A context ends with
    `close`, at the end of a `with` block, or when nothing refers to it any more.
    With several ranks use one of the former two: all ranks must do it together. Collective. Raises Error.
    """

    _met = False  # whether the arguments of all ranks were found good

    @made_together
    def __init__(self, lattice: Sequence[int] | PathLike | None = None, *, comm: Any = None, grid: Sequence[int] | None = None,
                 coord: Sequence[int] | None = None, threads: int = 0, stream: int | None = None,
                 tuning_file: PathLike | None = None, environment: bool = True,
                 log: Callable[[int, str], object] | None = None, **options: Unpack[ContextWords]) -> None:
        self._options, self._stream = _of_context(dict(options)), stream
        asked = words(self._options)
        if lattice is None or isinstance(lattice, PATHS):
            lattice = native.gauge_lattice(None if lattice is None else os.fsdecode(lattice), asked)
        self._lattice = _four("lattice", lattice)
        self._native = native.create_context(self._lattice, None if grid is None else _four("grid", grid),
                                             None if coord is None else _four("coord", coord), asked, threads,
                                             bool(environment), stream or 0, None if tuning_file is None else os.fsdecode(tuning_file),
                                             log, None if comm is None else _fortran_communicator(comm), lambda: self._meet(comm))
        local, origin = native.local_lattice(self._native)
        self._local, self._origin = _four("local", local), _four("origin", origin)
        self._grid = _four("grid", native.process_grid(self._native))
        number = native.device(self._native)
        self._device = "cpu" if number == native.DEVICES["cpu"] else f"cuda:{number}"

    def _meet(self, comm: Any) -> None:
        self._met = True
        meet(comm)

    @property
    def lattice(self) -> Extents:
        """Global extents X, Y, Z, T."""
        return self._lattice

    @property
    def local(self) -> Extents:
        """Extents of this rank's part, to which all arrays belong."""
        return self._local

    @property
    def origin(self) -> Extents:
        """Global coordinates x, y, z, t of the first site of this rank's part."""
        return self._origin

    @property
    def grid(self) -> Extents:
        """Ranks in each direction."""
        return self._grid

    @property
    def device(self) -> str:
        """On which this rank computes: "cpu", "cuda:0", ..."""
        return self._device

    @property
    def stream(self) -> int | None:
        return self._stream

    @collective
    def gauge(self, array: SupportsDLPack, *, order: str = "lex", phases: str = "none", boundary: Boundary | None = None,
              boundary_in_links: bool = False, dagger: bool = False, scale: Sequence[float] | None = None, version: int = 0,
              naik: SupportsDLPack | None = None, coefficient: float = 0.0, **options: Unpack[GaugeWords]) -> Gauge:
        """A Gauge with the links of `array`, of which it keeps a copy in fp64: thin links; with `naik` fat ones.

        order              how the array lies, local: "lex" [T, Z, Y, X, mu, 3, 3]; "qdp" [mu, 2, T, Z, Y, X/2, 3, 3], as PyQUDA
                           has it; "even-odd-x" [2, T, Z, Y, X/2, mu, 3, 3], as MILC has it; "cps-stag", "cps-wilson",
                           "cps-stag-block"
        phases             staggered phases that are multiplied into the links: "none", "cps", "milc", "tifr", "chroma", or
                           "as-given" where nobody knows
        boundary           "antiperiodic" in t, the default; "periodic"; or four of these words or numbers in units of pi
        boundary_in_links  whether the boundary's phases are multiplied into the last slices
        dagger             whether links are stored as U^dagger
        scale              factors of the four directions, in D too
        version            not 0: two updates of the same version have the same links, and the second reads nothing
        naik               Naik links of improved quarks, of the order, phases and boundary of the fat ones in `array`
        coefficient        Naik links are that times unitary matrices; 0: found from them

        The other options are those of the operator of the program, and what solves begin with. With `action` asqtad or hisq fat and
        Naik links are made from the thin ones of `array`, again after every update.

        {options}

        Links lie in the memory of the host or of the context's GPU. Collective. Raises Error.
        """
        naik, given = _with_old_names(naik, dict(options))
        if naik is not None and given.get("action", "naive") != "naive":
            raise Error(f"naik: expected none with action {given['action']}, which makes Naik links, found an array", "argument")
        order = order_of(order, LINK_ORDERS, OLD_LINK_ORDERS)
        layout = link_layout(order, phases, boundary_in_links, dagger, scale)
        layout.generation = version
        of_naik = link_layout(order, phases, boundary_in_links, dagger, scale, coefficient) if naik is not None else None
        return Gauge._of_arrays(self, order, array, layout, naik, of_naik, _with_boundary(boundary, given))

    @collective
    def read(self, path: PathLike | None = None, *, verify: bool = True, boundary: Boundary | None = None,
             **options: Unpack[FileWords]) -> Gauge:
        """A Gauge with the links of a file of MILC, NERSC, ILDG, SciDAC, HDF5, npy, openQCD or PyQUDA (docs/files.md). With `verify` a checksum that is wrong
        or absent is an error. None: improved quarks from the files `fat` and `naik`. Ranks read their parts together. The other options
        are those of `gauge`. Collective. Raises Error."""
        with verify_is_an_argument():
            return self._read(path, boundary, {**options} if verify else {**options, "no_verify": True})

    def _read(self, path: PathLike | None, boundary: Boundary | None, options: dict[str, Any]) -> Gauge:
        _, options = _with_old_names(None, options)
        made = native.read_gauge(self._native, None if path is None else os.fsdecode(path), words(_with_boundary(boundary, options)))
        stored = options.get("fat", self._options.get("fat")) is not None
        layout, of_naik = (link_layout("lex", "none", False, False, None) for _ in range(2))
        return Gauge(self, made, "lex", layout, of_naik if stored else None, stored or self._makes_naik(options))

    @collective
    def read_links(self, path: PathLike, *, verify: bool = True) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """The links of a file as an array, local [T, Z, Y, X, mu, 3, 3]. Collective. Raises Error."""
        x, y, z, t = self._local
        array = np.empty((t, z, y, x, 4, 3, 3), np.complex128)
        with verify_is_an_argument():
            native.read_links(self._native, os.fsdecode(path), bool(verify), native.Links(native.ORDERS["lex"]), [array.ctypes.data])
        return array

    @collective
    def write_vectors(self, path: PathLike, vectors: SupportsDLPack, *, name: str = "solution", order: str = "lex",
                      force: bool = False) -> None:
        """Writes solutions or sources, local [..., *axes] on the host, together with the other ranks.

        path   of a file in HDF5, or SciDAC, npy or FNAL where it ends in .scidac, .npy or .fnal
        name   of the dataset in HDF5: "solution", or "source", which a solve reads
        order  as in Gauge.solve; force: replace the file if it exists. Collective. Raises Error.
        """
        order = order_of(order, VECTOR_ORDERS, OLD_VECTOR_ORDERS)
        layout = vector_layout(order, "none")
        found = vector_fields("vectors", vectors, order, self._local, self._stream)
        layout.precision, layout.memory = found.precision, found.memory
        native.write_vectors(self._native, os.fsdecode(path), name, bool(force), layout, found.addresses)

    def _makes_naik(self, options: dict[str, Any]) -> bool:
        """Whether gauges with these options have Naik links that the library makes."""
        return options.get("action", self._options.get("action", "naive")) not in (None, "naive")

    def report(self) -> Report:
        """The report of the last solve. Local. Raises Error before the first."""
        return Report.from_dict(self._report())

    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(native.report(self._native))
        return report

    def close(self) -> None:
        """Ends the context and its gauges. Twice is fine. Collective."""
        self._native.destroy()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<staghorn.Context {'x'.join(map(str, self._lattice))}, local {'x'.join(map(str, self._local))}>"


def _four(name: str, values: Sequence[int]) -> Extents:
    if len(values) != 4:
        raise Error(f"{name}: expected four whole numbers x, y, z, t, found {values!r}", "argument")
    x, y, z, t = map(int, values)
    return x, y, z, t


def _of_context(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a context as the table knows them."""
    device = options.get("device")
    if isinstance(device, (int, np.integer)) and not isinstance(device, bool):
        options = {**options, "device": f"cuda:{device}"}
    _, options = _with_old_names(None, options)
    return _with_boundary(options.get("boundary"), options)


def _with_boundary(boundary: Boundary | None, options: dict[str, Any]) -> dict[str, Any]:
    return options if boundary is None else {**options, "boundary": boundary_text(boundary)}


def _with_old_names(naik: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Old names of Naik links: `long` is an array of Context.gauge, and a path elsewhere."""
    options = dict(options)
    for old, new in (("long_links", "naik_links"), ("long", "naik")):
        if old in options:
            old_name(old, new)
            if old == "long" and not isinstance(options[old], PATHS):
                naik = options.pop(old)
            else:
                options[new] = options.pop(old)
    return naik, options


def _fortran_communicator(comm: Any) -> int:
    """The handle of a communicator of mpi4py, if mpi4py and Staghorn use the same library of MPI."""
    if not hasattr(comm, "py2f"):
        raise Error(f"comm: expected a communicator of mpi4py, found {type(comm).__module__}.{type(comm).__qualname__}", "argument")
    if is_null(comm):
        raise Error("comm: expected a group of ranks, found COMM_NULL", "argument")
    if native.mpi_library() == "no MPI":
        raise Error("comm: expected None, as this Staghorn was built without MPI, found a communicator. `pip install .` builds it with "
                    "the MPI that it finds (libopenmpi-dev of Debian and Ubuntu, openmpi of conda-forge)", "mpi")
    from mpi4py import MPI

    theirs, ours = MPI.Get_library_version().strip("\0 \n"), native.mpi_library().strip("\0 \n")
    if theirs != ours:
        raise Error(f"comm: expected a communicator of the MPI that Staghorn is linked with, {ours!r}, found one of {theirs!r}", "mpi")
    if comm.Is_inter():
        raise Error("comm: expected one group of ranks, such as comm.Merge() makes, found an intercommunicator, which has two", "argument")
    return int(comm.py2f())


list_options(Context, SESSION_OPTIONS, "    ")
list_options(Context.gauge, OPERATOR_OPTIONS, "        ")
