"""Context: a lattice, its ranks, threads and GPU. Gauges live in it. There is no other state: several contexts may work in
several threads at once, one thread at a time in each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .compiled_modules import loading
from .errors import Error, choice
from .fields import Extents, SupportsDLPack
from .gauge import Gauge
from .paths import PATHS, PathLike
from .report import Report
from .structs import Boundary, action_of, link_layout
from .together import collective, is_null, made_together, meet

with loading():
    from . import _interface as native


class Context:
    """A lattice of extents X, Y, Z, T, whole in this process or cut among the ranks of a communicator.

    lattice      extents (X, Y, Z, T), or the path of a gauge file that has them
    comm         communicator of mpi4py, of which a duplicate is kept; None: this process alone, and no function of MPI is called
    grid         ranks in each direction; None: as leaves the least surface
    coord        place of this rank in the grid; None: by rank, x fastest
    device       "cpu", "auto" (a GPU if there is one), the number of a GPU, or a list as of `--device`, such as "cuda:0,cpu": the
                 ranks of a host take its entries in turn
    threads      of OpenMP within calls of this context; 0: as OMP_NUM_THREADS says
    certificate  where residuals are recomputed: "auto" (on the GPU that solves, if it has room for that), "host" or "device"
    transport    of faces between ranks; None: chosen by measurement
    stream       CUDA stream, by its address, on which arrays on the GPU are ready; None: the default stream
    tuning_file  remembers launches of GPU kernels; None: nothing is written
    environment  whether variables STAGHORN_... are read
    eigenvectors_on  where the eigenvectors of a GPU lie: "device", "host" (from where it reads them each time), or "auto", on the
                 device if they fit beside a solve
    log          called as log(level, text) with warnings (level 0)

    Local extents are even; where the grid does not divide the lattice evenly, the first parts are wider by 2. A context ends with
    `close`, at the end of a `with` block, or when nothing refers to it any more.
    With several ranks use one of the former two: all ranks must do it together. Collective. Raises Error.
    """

    _met = False  # whether the arguments of all ranks were found good

    @made_together
    def __init__(self, lattice: Sequence[int] | PathLike, *, comm: Any = None, grid: Sequence[int] | None = None,
                 coord: Sequence[int] | None = None, device: str | int = "cpu", threads: int = 0, certificate: str = "auto",
                 transport: str | None = None, stream: int | None = None, tuning_file: PathLike | None = None,
                 environment: bool = False, eigenvectors_on: str = "auto",
                 log: Callable[[int, str], object] | None = None) -> None:
        extents = native.file_lattice(os.fsdecode(lattice)) if isinstance(lattice, PATHS) else lattice
        geometry = native.Geometry()
        geometry.set(_four("lattice", extents), _four("grid", grid) if grid is not None else (0, 0, 0, 0),
                     None if coord is None else _four("coord", coord))
        options = native.Options()
        devices = device if isinstance(device, str) and "," in device else None
        options.device = _device("cpu" if devices else device)
        options.threads = threads
        options.certificate = choice("certificate", certificate, native.CERTIFICATES)
        options.environment = int(environment)
        options.eigenvectors_on = choice("eigenvectors_on", eigenvectors_on, native.EIGENVECTOR_PLACES)
        options.stream = stream or 0
        self._stream = stream
        self._native = native.create_context(geometry, options, transport, None if tuning_file is None else os.fsdecode(tuning_file),
                                             devices, log, None if comm is None else _fortran_communicator(comm),
                                             lambda: self._meet(comm))
        self._lattice = _four("lattice", extents)
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
    def gauge(self, array: SupportsDLPack, *, order: str = "lex", phases: str = "none", boundary: Boundary = "antiperiodic",
              boundary_in_links: bool = False, dagger: bool = False, scale: Sequence[float] | None = None, links: int = 18,
              version: int = 0, long: SupportsDLPack | None = None, long_links: int = 18, coefficient: float = 0.0,
              action: str = "naive", u0: float = 1.0, naik_epsilon: float = 0.0, unitarize: str = "u3") -> Gauge:
        """A Gauge with the links of `array`, of which it keeps a copy in fp64: thin links; with `long` fat ones.

        order              how the array lies, local: "lex" [T, Z, Y, X, mu, 3, 3]; "even-odd" [mu, 2, T, Z, Y, X/2, 3, 3], as
                           PyQUDA has it; "milc" [2, T, Z, Y, X/2, mu, 3, 3]; "cps-stag", "cps-wilson", "cps-stag-block"
        phases             staggered phases that are multiplied into the links: "none", "cps", "milc", "tifr", "chroma", or
                           "as-given" where nobody knows
        boundary           "antiperiodic" in t, "periodic", or four numbers in units of pi
        boundary_in_links  whether the boundary's phases are multiplied into the last slices
        dagger             whether links are stored as U^dagger
        scale              factors of the four directions, in D too
        links              reals of a link in the kernels: 18, 12 or 8
        version            not 0: two updates of the same version have the same links, and the second reads nothing
        long               long links of improved quarks, of the order, phases and boundary of the fat ones in `array`
        long_links         reals of a long link in the kernels: 18, 13 or 9
        coefficient        long links are that times unitary matrices; 0: found from them
        action             "asqtad" (with u0) or "hisq" (with naik_epsilon and unitarize, "u3" or "su3"): fat and long links are
                           made from the thin ones of `array`, again after every update

        Links lie in the memory of the host or of the context's GPU. Collective. Raises Error.
        """
        def layout(reals: int) -> native.Links:
            return link_layout(order, phases, boundary, boundary_in_links, dagger, scale, reals, version)

        made_by = action_of(action, u0, naik_epsilon, unitarize, long_links)
        if made_by is not None and long is not None:
            raise Error(f"long: expected none with action {action}, which makes long links, found an array", "argument")
        of_long = None
        if long is not None:
            of_long = layout(long_links)
            of_long.coefficient = coefficient
        return Gauge._of_arrays(self, order, array, layout(links), long, of_long, made_by)

    @collective
    def read(self, path: PathLike, *, verify: bool = True, boundary: Boundary = "antiperiodic",
             links: int = 18, long_links: int = 18, action: str = "naive", u0: float = 1.0, naik_epsilon: float = 0.0,
             unitarize: str = "u3") -> Gauge:
        """A Gauge with the links of a file: MILC, NERSC, ILDG, SciDAC or Staghorn's HDF5. With `verify` a checksum that is wrong
        or absent is an error. Ranks read their parts together. Other arguments as in `gauge`. Collective. Raises Error."""
        return self.gauge(self.read_links(path, verify=verify), boundary=boundary, links=links, long_links=long_links,
                          action=action, u0=u0, naik_epsilon=naik_epsilon, unitarize=unitarize)

    @collective
    def read_links(self, path: PathLike, *, verify: bool = True) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """The links of a file as an array, local [T, Z, Y, X, mu, 3, 3]. Collective. Raises Error."""
        x, y, z, t = self._local
        array = np.empty((t, z, y, x, 4, 3, 3), np.complex128)
        native.read_links(self._native, os.fsdecode(path), verify, native.Links(), [array.ctypes.data])
        return array

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
    if len(values) != 4 or not all(isinstance(n, (int, np.integer)) for n in values):
        raise Error(f"{name}: expected four whole numbers x, y, z, t, found {values!r}", "argument")
    x, y, z, t = map(int, values)
    return x, y, z, t


def _device(device: str | int) -> int:
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str) and device.startswith("cuda:") and device[5:].isdigit():
        return int(device[5:])
    devices: Mapping[str, int] = {**native.DEVICES, "cuda": 0}
    return choice("device", device, dict(devices))


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
