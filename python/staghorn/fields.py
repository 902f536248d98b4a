"""Arrays of any library as fields of a local lattice: where they lie, in which order, and whether that fits.

NumPy arrays come through the buffer protocol, arrays of other libraries through DLPack or `__cuda_array_interface__`. Nothing
is copied: an array that does not lie as it should is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from .compiled_modules import loading
from .errors import Error, did_you_mean
from .structs import old_name

with loading():
    from . import _interface as native

Extents = tuple[int, int, int, int]  # x, y, z, t


class SupportsDLPack(Protocol):
    """An array of NumPy, CuPy, PyTorch, JAX, dpnp and so on."""

    def __dlpack__(self, *args: Any, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...


Array = TypeVar("Array", bound=SupportsDLPack)

CPU, CUDA, CUDA_PINNED, CUDA_MANAGED = 1, 2, 3, 13  # device types of DLPack
PRECISIONS = {"complex128": "fp64", "complex64": "fp32"}
# The names of staghorn.h, and "half" of vectors.
VECTOR_ORDERS = ("lex", "even-odd-x", "half", "cps-stag", "cps-wilson")
LINK_ORDERS = ("lex", "qdp", "even-odd-x", "cps-stag", "cps-wilson", "cps-stag-block")
OLD_VECTOR_ORDERS = {"even-odd": "even-odd-x"}
OLD_LINK_ORDERS = {"even-odd": "qdp", "milc": "even-odd-x"}


def vector_shape(order: str, local: Extents) -> tuple[int, ...]:
    """The axes of one vector: "lex" [T, Z, Y, X, 3]; "even-odd-x" [2, T, Z, Y, X/2, 3], even sites first, as PyQUDA has them;
    "half" [T, Z, Y, X/2, 3], the sites of one parity; "cps-stag" and "cps-wilson" [V, 3], in the order of CPS."""
    x, y, z, t = local
    sites = {"lex": (t, z, y, x), "even-odd-x": (2, t, z, y, x // 2), "half": (t, z, y, x // 2)}
    return (*sites.get(order, (x * y * z * t,)), 3)


def link_shape(order: str, local: Extents) -> tuple[int, ...]:
    """The axes of links: "lex" [T, Z, Y, X, mu, 3, 3]; "qdp" [mu, 2, T, Z, Y, X/2, 3, 3], as PyQUDA has them; "even-odd-x"
    [2, T, Z, Y, X/2, mu, 3, 3], as MILC has them; "cps-stag", "cps-wilson" [V, mu, 3, 3]; "cps-stag-block" [mu, V, 3, 3]."""
    x, y, z, t = local
    volume = x * y * z * t
    sites: dict[str, tuple[int, ...]] = {"lex": (t, z, y, x, 4), "qdp": (4, 2, t, z, y, x // 2),
                                         "even-odd-x": (2, t, z, y, x // 2, 4), "cps-stag-block": (4, volume)}
    return (*sites.get(order, (volume, 4)), 3, 3)


@dataclass
class Fields:
    """Fields of one array, ready for the library."""

    addresses: list[int]
    leading: tuple[int, ...]  # the axes in front of those of one field
    precision: int
    memory: int
    device: tuple[int, int]  # of DLPack: type and number
    keeps: Any = field(repr=False, default=None)  # what holds the memory while it is used


def vectors(name: str, array: object, order: str, local: Extents, stream: int | None) -> Fields:
    """The vectors of `array`, [..., *vector_shape(order, local)]. `stream`: the CUDA stream on which they must be ready, by
    its address. Raises Error."""
    return _fields(name, array, vector_shape(order, local), stream)


def links(name: str, array: object, order: str, local: Extents, stream: int | None) -> Fields:
    """The links of `array`, of link_shape(order, local): one address, or four where the library wants one a direction."""
    shape = link_shape(order, local)
    found = _fields(name, array, shape, stream)
    if found.leading:
        raise Error(f"{name}: expected shape {shape}, found {(*found.leading, *shape)}", "layout")
    if order == "qdp":
        bytes_of_direction = math.prod(shape[1:]) * (16 if found.precision == native.PRECISIONS["fp64"] else 8)
        found.addresses = [found.addresses[0] + mu * bytes_of_direction for mu in range(4)]
    return found


def order_of(order: str, orders: Sequence[str], old: Mapping[str, str]) -> str:
    """`order`, one of these, under its new name. Raises Error."""
    if order in old:
        old_name(f"order {order!r}", repr(old[order]))
        return old[order]
    if order not in orders:
        raise Error(f"order: expected {', '.join(orders[:-1])} or {orders[-1]}, found {order!r}{did_you_mean(order, orders)}", "argument")
    return order


def _fields(name: str, array: object, shape: tuple[int, ...], stream: int | None) -> Fields:
    memory = located(name, array, stream)
    if memory.dtype not in PRECISIONS:
        raise Error(f"{name}: expected complex64 or complex128 numbers, found {getattr(array, 'dtype', memory.dtype)}", "layout")
    found = memory.shape
    leading = found[: max(0, len(found) - len(shape))]
    if found[len(leading):] != shape or 0 in leading:
        raise Error(f"{name}: expected shape (..., {', '.join(map(str, shape))}), found {found}", "layout")
    _check_contiguous(name, memory)
    numbers, bytes_of_number = math.prod(shape), 16 if memory.dtype == "complex128" else 8
    addresses = [memory.address + k * numbers * bytes_of_number for k in range(math.prod(leading))]
    place = {CUDA: "device", CUDA_MANAGED: "device", CUDA_PINNED: "pinned"}.get(memory.device_type, "host")
    return Fields(addresses, leading, native.PRECISIONS[PRECISIONS[memory.dtype]], native.MEMORY[place],
                  (memory.device_type, memory.device_id), memory)


def _check_contiguous(name: str, memory: native.Memory | _CudaMemory) -> None:
    step = 1
    for extent, stride in zip(reversed(memory.shape), reversed(memory.strides)):
        if extent != 1 and stride != step:
            raise Error(f"{name}: expected an array without gaps, last index fastest, found strides {memory.strides} of numbers;"
                        " make a copy of that order", "layout")
        step *= extent


@dataclass
class _CudaMemory:
    """As native.Memory, from `__cuda_array_interface__`."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device_type: int
    device_id: int


def located(name: str, array: object, stream: int | None) -> native.Memory | _CudaMemory:
    """Where an array lies. Its library makes it ready on `stream`: None, the legacy default stream of CUDA."""
    try:
        if isinstance(array, np.ndarray):
            return native.Memory(array)
        if hasattr(array, "__dlpack__"):
            exporter = cast(SupportsDLPack, array)
            device, _ = exporter.__dlpack_device__()
            on_gpu = int(device) in (CUDA, CUDA_MANAGED)
            return native.Memory(exporter.__dlpack__(stream=stream or 1) if on_gpu else exporter.__dlpack__())
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error(f"{name}: expected an array whose memory can be used as it is, found one of {_type_name(array)} that says: "
                    f"{error}", "layout") from error
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _located_by_cuda(name, interface, stream)
    raise Error(f"{name}: expected an array of NumPy, CuPy, PyTorch, JAX or another library with DLPack, found {_type_name(array)}",
                "argument")


def _located_by_cuda(name: str, interface: dict[str, Any], stream: int | None) -> _CudaMemory:
    produced_on = interface.get("stream")
    if produced_on not in (None, stream or 1):
        raise Error(f"{name}: expected numbers that are ready on stream {stream or 1} of the context, found stream {produced_on}; "
                    "pass that stream to Context", "argument")
    shape = tuple(interface["shape"])
    kind = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if strides is None:
        numbers = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
    else:
        numbers = [bytes_of_step // kind.itemsize for bytes_of_step in strides]
    return _CudaMemory(int(interface["data"][0]), shape, tuple(numbers), kind.name, CUDA, -1)


def _type_name(array: object) -> str:
    return f"{type(array).__module__}.{type(array).__qualname__}"


# --- arrays for results -----------------------------------------------------------------------------------------


def library_of(array: object) -> str:
    """"numpy", "cupy", "torch", "jax" or another name of a library of arrays."""
    if isinstance(array, np.ndarray):
        return "numpy"
    name = type(array).__module__.split(".")[0]
    return "jax" if name == "jaxlib" else name


def new_array(like: Array, leading: tuple[int, ...] = (), zeros: bool = False) -> Array:
    """A new array of the library, place and type of `like`, of shape (*leading, *like.shape); with `zeros` its numbers are 0."""
    model: Any = like
    library = library_of(like)
    shape = (*leading, *getattr(like, "shape", ()))
    made: Any
    if library == "jax":
        made = _new_jax_array(model, shape)
    elif library == "torch":
        made = model.new_zeros(shape) if zeros else model.new_empty(shape)
    elif library == "numpy":
        made = (np.zeros if zeros else np.empty)(shape, dtype=model.dtype)
    elif library == "cupy":
        cupy: Any = import_module("cupy")
        with model.device:
            made = (cupy.zeros if zeros else cupy.empty)(shape, dtype=model.dtype)
    elif hasattr(like, "__array_namespace__"):
        namespace: Any = model.__array_namespace__()
        made = (namespace.zeros if zeros else namespace.empty)(shape, dtype=model.dtype, device=model.device)
    else:
        raise Error(f"out: expected an array for the result, for {_type_name(like)} makes none", "argument")
    return cast(Array, made)


def copied(array: Array) -> Array:
    """A copy in the library, place and type of `array`."""
    model: Any = array
    if library_of(array) == "torch":
        return cast(Array, model.clone())
    if library_of(array) == "jax":
        raise Error("guess: expected an array of another library than JAX, whose arrays do not change, or none", "argument")
    return cast(Array, model.copy())


def _new_jax_array(like: Any, shape: tuple[int, ...]) -> Any:
    # Arrays of JAX do not change once they are made. This one has been seen by nobody when its numbers are written.
    import jax
    import jax.numpy

    with jax.default_device(next(iter(like.devices()))):
        return jax.numpy.zeros(shape, dtype=like.dtype).block_until_ready()


def check_writable(name: str, array: object) -> None:
    """Raises Error where an array must not be changed."""
    if library_of(array) == "jax":
        raise Error(f"{name}: expected an array that can be changed, found one of JAX; pass no `{name}`", "argument")
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise Error(f"{name}: expected an array that can be changed, found a read-only one", "argument")


def check_alike(name: str, fields: Fields, of: str, model: Fields) -> None:
    """Raises Error unless two arrays have the same shape, type and place."""
    for what, found, expected in (("leading axes", fields.leading, model.leading), ("precision", fields.precision, model.precision),
                                  ("device", fields.device, model.device)):
        if found != expected:
            raise Error(f"{name}: expected the {what} of {of}, {expected}, found {found}", "layout")
