from collections.abc import Callable, Sequence
from typing import Any

ORDERS: dict[str, int]
PHASES: dict[str, int]
ACTIONS: dict[str, int]
GROUPS: dict[str, int]
SITES: dict[str, int]
MEMORY: dict[str, int]
PRECISIONS: dict[str, int]
STOPS: dict[str, int]
CERTIFICATES: dict[str, int]
EIGENVECTOR_PLACES: dict[str, int]
DEVICES: dict[str, int]
OUTCOMES: dict[str, int]
ERRORS: dict[str, int]

class Geometry:
    def set(self, lattice: Sequence[int], grid: Sequence[int], coord: Sequence[int] | None) -> None: ...

class Options:
    device: int
    threads: int
    certificate: int
    environment: int
    eigenvectors_on: int
    stream: int

class Links:
    order: int
    precision: int
    memory: int
    phases: int
    boundary_in: int
    dagger: int
    reals: int
    generation: int
    coefficient: float
    def set_theta(self, theta: Sequence[float]) -> None: ...
    def set_scale(self, scale: Sequence[float]) -> None: ...

class Action:
    quarks: int
    unitarize: int
    long_reals: int
    u0: float
    naik_epsilon: float

class Vectors:
    order: int
    precision: int
    memory: int
    phases: int
    half: int

class Request:
    system: int
    sign: int
    halved: int
    precision: int
    sloppy: int
    sloppy_reals: int
    stop: int
    guess: int
    chronological: int
    mass: float
    tolerance: float
    tolerance_hq: float
    max_iterations: int
    def set(self, name: str, value: str) -> None: ...

class Result:
    status: int
    iterations: int
    iterations_more: int
    residual_iterated: float
    residual_true: float
    residual_parity: float
    residual_hq: float
    source_norm2: float
    solution_norm2: float
    seconds: float

class Memory:
    def __init__(self, array: object) -> None: ...
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device_type: int
    device_id: int

class Context:
    calls: int
    def refuse(self, status: int, text: str) -> None: ...
    def destroy(self) -> None: ...

class Gauge:
    def destroy(self) -> None: ...

def mpi_library() -> str: ...
def file_lattice(path: str) -> list[int]: ...
def create_context(geometry: Geometry, options: Options, transport: str | None, tuning_file: str | None,
                   devices: str | None, log: Callable[[int, str], object] | None, communicator: int | None,
                   ready: Callable[[], object]) -> Context: ...
def local_lattice(context: Context) -> tuple[list[int], list[int]]: ...
def process_grid(context: Context) -> list[int]: ...
def device(context: Context) -> int: ...
def report(context: Context) -> str: ...
def read_links(context: Context, path: str, verify: bool, links: Links, u: Sequence[int]) -> None: ...
def create_gauge(context: Context, links: Links, u: Sequence[int], long_links: Links | None, lng: Sequence[int],
                 action: Action | None) -> Gauge: ...
def update(gauge: Gauge, links: Links, u: Sequence[int], long_links: Links | None, lng: Sequence[int]) -> None: ...
def info(gauge: Gauge) -> dict[str, Any]: ...
def hop(gauge: Gauge, vectors: Vectors, target: int, sources: Sequence[int], out: Sequence[int]) -> None: ...
def solve(gauge: Gauge, request: Request, vectors: Vectors, b: Sequence[int], x: Sequence[int], dx: Sequence[int],
          progress: Callable[[int, float], Any] | None) -> tuple[int, list[Result]]: ...
def multishift(gauge: Gauge, request: Request, vectors: Vectors, shifts: Sequence[float], tolerances: Sequence[float],
               alphas: Sequence[float], b: int, x: Sequence[int], dx: Sequence[int],
               progress: Callable[[int, float], Any] | None) -> tuple[int, list[Result]]: ...
