from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from .errors import Error as Error

version: str

def read_gauge(path: str, verify: bool, dataset: str | None,
               kyu: tuple[int, int, int, int] | None, lattice: tuple[int, int, int, int] | None,
               probe: bool) -> tuple[NDArray[np.complex128], dict[str, Any]]: ...
def write_gauge(path: str, links: NDArray[np.complex128], format: str | None, precision: str | None, force: bool,
                compress: int) -> None: ...
def generate(lattice: tuple[int, int, int, int] | None, start: str, beta: float, sweeps: int, overrelaxation: int, seed: int,
             save_every: int, save_as: str | None, output: str | None, format: str | None, precision: str | None,
             device: str, force: bool, progress: Callable[[int, int], Any] | None) -> NDArray[np.complex128]: ...
def read_vectors(path: str, verify: bool, probe: bool) -> tuple[NDArray[np.complex128], dict[str, Any]]: ...
def write_vectors(path: str, vectors: NDArray[np.complex128], name: str, format: str | None, precision: str | None,
                  force: bool, compress: int) -> None: ...
def html_report(reports: list[tuple[str, str]]) -> str: ...
def campaign(gauge: str, options: dict[str, str], output: str | None, report: str | None, results: str | None,
             force: bool, stop_at_failure: bool, keep_checkpoint: bool,
             progress: Callable[[str, int, int, int, float, str], Any] | None) -> tuple[str, str]: ...
def campaign_table(path: str, report: str) -> str: ...
def merge_campaigns(reports: list[str], report: str | None, results: str | None, force: bool) -> tuple[str, str]: ...
def certify(options: dict[str, str], gauge: str, links: NDArray[np.complex128] | None, path: str, solutions: NDArray[np.complex128] | None,
            sources: NDArray[np.complex128] | None, precision: str, any_convention: bool, search: bool) -> str: ...
def smooth(options: dict[str, str], path: str, links: NDArray[np.complex128] | None, verify: bool,
           reunitarize: bool, device: str) -> tuple[NDArray[np.complex128], str]: ...
def smear(path: str, links: NDArray[np.complex128] | None, action: str, u0: float, epsilon: float, unitarize: str, verify: bool,
          reunitarize: bool) -> tuple[NDArray[np.complex128], NDArray[np.complex128], float]: ...
def options() -> list[dict[str, Any]]: ...

# Keywords of options, from the table of options by tests/typed_options.py.
class VectorWords(TypedDict, total=False):
    masses: Sequence[float] | str | None
    rational: str | None
    rational_parts: bool | None
    system: Literal["full", "even", "odd"] | None
    color: Literal[0, 1, 2, "all"] | None
    noise_vectors: int | None
    mesons: Sequence[str] | str | None
    baryons: str | None
    pairs: str | None
    sources: Sequence[str] | str | None
    tolerance: float | None
    tolerance_hq: float | None
    max_iterations: int | None
    batch: int | None
    checkpoint: str | bytes | PathLike[Any] | None
    checkpoint_every: float | None
    resume: bool | None
    chronological: int | None
    deflate: bool | None
    exact_low_modes: bool | None
    recover: bool | None

class SolveWords(VectorWords, total=False):
    phases: Literal["cps", "milc"] | None

class GaugeWords(TypedDict, total=False):
    eigenvectors: str | bytes | PathLike[Any] | None
    eigenpairs: int | None
    coarse: str | bytes | PathLike[Any] | None
    coarse_block: str | None
    action: Literal["naive", "asqtad", "hisq"] | None
    u0: float | None
    naik_epsilon: float | None
    unitarize: Literal["u3", "su3"] | None
    fat: str | bytes | PathLike[Any] | None
    phases_in_links: Literal["milc", "cps", "none"] | None
    precision: Literal["fp64", "fp32"] | None
    links: Literal[18, 12, 8] | None
    sloppy: Literal["auto", "fp32", "fp16", "none"] | None
    sloppy_links: Literal[18, 12, 8] | None
    fat_links: Literal[18] | None
    naik_links: Literal[18, 13, 9] | None
    sloppy_naik_links: Literal[18, 13, 9] | None
    reunitarize: bool | None
    dataset: str | None
    keep_thin_links: bool | None
    no_verify: bool | None
    no_probe: bool | None

class FileWords(GaugeWords, total=False):
    naik: str | bytes | PathLike[Any] | None

class ContextWords(FileWords, total=False):
    boundary: Sequence[float | str] | str | None
    shares: str | None
    mapping: Literal["host", "natural", "reversed"] | None
    loopback: str | None
    device: str | int | None
    transport: str | None
    overlap: bool | None
    tuning: Literal["on", "off", "again"] | None
    solver: str | None
    coarse_tolerance: float | None
    preconditioner: str | None
    blas: Literal["fused", "cublas"] | None
    certificate: Literal["auto", "host", "device"] | None
    eigenvectors_on: Literal["auto", "device", "host"] | None
    slow_device: str | None
    inject: str | None

class SessionWords(ContextWords, total=False):
    grid: Sequence[int] | str | None

class AllWords(SolveWords, SessionWords, total=False): ...
class AllVectorWords(VectorWords, SessionWords, total=False): ...
