"""What one rank refuses, all ranks refuse: errors that are raised in Python, before a collective call enters the library."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .arguments import checked
from .compiled_modules import loading
from .errors import Error

with loading():
    from . import _interface as native

if TYPE_CHECKING:
    from .context import Context
    from .gauge import Gauge

P = ParamSpec("P")
R = TypeVar("R")


def collective(method: Callable[P, R]) -> Callable[P, R]:
    """`method` of a Context or a Gauge, which enters the library once or more. If it raises before, the other ranks of the context,
    which are in the library or will be, raise too. Names and numbers of arguments that do not fit belong to that."""
    with_checks = checked(method)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        of: Any = args[0]
        context: native.Context = of._native if isinstance(of._native, native.Context) else of.context._native
        before = context.calls
        try:
            return with_checks(*args, **kwargs)
        except BaseException as error:  # an interrupt, too
            if context.calls == before:
                kind, text = _told(error)
                context.refuse(native.ERRORS[kind], text)
            raise
    return call


def made_together(init: Callable[P, None]) -> Callable[P, None]:
    """`__init__` of a Context, which calls `meet` before it enters the library. If it raises before, the others raise in `meet`."""
    with_checks = checked(init)

    @wraps(init)
    def construct(*args: P.args, **kwargs: P.kwargs) -> None:
        made: Any = args[0]
        try:
            with_checks(*args, **kwargs)
        except BaseException as error:
            if not made._met:
                meet(kwargs.get("comm"), error)
            raise
    return construct


def meet(comm: Any, error: BaseException | None = None) -> None:
    """Returns on all ranks of a communicator of mpi4py, or raises where one of them has an error: on that one `error` is raised by
    the caller. Collective."""
    if not hasattr(comm, "allgather") or is_null(comm) or comm.Is_inter():  # what is wrong with it is found on all ranks
        return
    told = comm.allgather(None if error is None else _told(error))
    failed = [rank for rank, found in enumerate(told) if found is not None]
    if failed and error is None:
        kind, text = told[failed[0]]
        raise Error(f"rank {failed[0]}: {text}", kind)


def is_null(comm: Any) -> bool:
    """Whether a communicator of mpi4py is MPI.COMM_NULL."""
    return not comm


def _told(error: BaseException) -> tuple[str, str]:
    """Kind and text of an error, for the other ranks."""
    if isinstance(error, Error):
        return error.kind or "internal", str(error)
    kind = "memory" if isinstance(error, MemoryError) else "file" if isinstance(error, OSError) else "argument"
    return kind, f"{type(error).__name__}: {error}"
