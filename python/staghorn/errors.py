"""What goes wrong, in words: where, what was expected, what was found. Names are those of Python's arguments."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Fields of the structs of staghorn.h that have another name here.
_NAMES = {
    "links.reals": "links",
    "links.precision": "dtype",
    "links.theta": "boundary",
    "links.generation": "version",
    "links.boundary_in": "boundary_in_links",
    "request.sloppy_reals": "sloppy_links",
    "request.words": "options",
    "vectors.precision": "dtype",
    "geometry.global": "lattice",
}
# Arguments of the functions of staghorn.h that have another name here; "b[2]" is the third source.
_FIELDS = {"b": "source", "in": "source", "x": "out"}
_FIELD = re.compile(r"(?<![\w.])(b|in|x)(\[\w+\])")
_STRUCT_FIELD = re.compile(r"\b(?:request|vectors|links|geometry|options)\.(\w+)")


class Error(RuntimeError):
    """Something that Staghorn refuses or that failed. A solve that does not converge is a result, not an error.

    `kind` is the category: argument, layout, value, file, memory, device, mpi, state, unsupported or internal. Each has a
    class of its own below, which `Error(text, kind)` makes. It is "" where the part that raised it does not say.
    """

    def __new__(cls, text: str = "", kind: str = "") -> Error:
        made = CLASSES.get(kind, cls) if cls is Error else cls
        return (OSError if issubclass(made, OSError) else RuntimeError).__new__(made, text)

    def __init__(self, text: str = "", kind: str = "") -> None:
        super().__init__(text)
        self.kind = kind or next((name for name, made in CLASSES.items() if isinstance(self, made)), "")


class ArgumentError(Error, ValueError):
    """An argument makes no sense."""


class WrongTypeError(ArgumentError, TypeError):
    """An argument is of a type that makes no sense there."""


class LayoutError(Error, ValueError):
    """Extents, grid, ranks, shapes or strides do not fit together."""


class InputError(Error, ValueError):
    """A field or a number is not what it must be."""


class FileError(Error, OSError):
    """A file cannot be read or written, or does not hold what it must."""


class OutOfMemoryError(Error):
    """It does not fit into memory."""


class DeviceError(Error):
    """A GPU is missing or failed."""


class MpiError(Error):
    """MPI is missing or failed."""


class StateError(Error):
    """An object was closed, is in use, or belongs elsewhere."""


class UnsupportedError(Error, NotImplementedError):
    """It has its place, but does not exist yet."""


class InternalError(Error):
    """A fault of Staghorn, not of its input."""


# Category -> class. docs/guide/troubleshooting.md is the table for users.
CLASSES: dict[str, type[Error]] = {
    "argument": ArgumentError, "layout": LayoutError, "value": InputError, "file": FileError, "memory": OutOfMemoryError,
    "device": DeviceError, "mpi": MpiError, "state": StateError, "unsupported": UnsupportedError, "internal": InternalError,
}


def error_of_library(status: int, text: str) -> Error:
    """The error for a negative status of staghorn.h and its text, with the names of Python's arguments."""
    from ._interface import ERRORS

    kinds = {number: kind for kind, number in ERRORS.items()}
    text = _STRUCT_FIELD.sub(lambda found: _NAMES.get(found[0], found[1]), text)
    text = _FIELD.sub(lambda found: _FIELDS[found[1]] + found[2], text)
    return Error(text, kinds.get(status, "internal"))


@contextmanager
def verify_is_an_argument() -> Iterator[None]:
    """Errors of files name the argument `verify` in place of the option `no_verify`."""
    try:
        yield
    except Error as error:
        raise Error(str(error).replace("The option `no_verify` reads", "`verify=False` reads"), error.kind) from None


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    """The number that `value` stands for. Raises Error naming the choices."""
    if isinstance(value, str) and value in choices:
        return choices[value]
    words = list(choices)
    expected = ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else words[0]
    raise Error(f"{name}: expected {expected}, found {value!r}{did_you_mean(value, words)}", "argument")


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """". Did you mean 'X'?" for the choice closest to `word`, or "" where none is close."""
    close = difflib.get_close_matches(word, choices, 1) if isinstance(word, str) else []
    return f". Did you mean {close[0]!r}?" if close else ""
