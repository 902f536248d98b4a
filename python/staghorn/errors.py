"""What goes wrong, in words: where, what was expected, what was found. Names are those of Python's arguments."""

from __future__ import annotations

import re

# Fields of the structs of staghorn.h that have another name here.
_NAMES = {
    "links.reals": "links",
    "links.precision": "dtype",
    "links.theta": "boundary",
    "links.generation": "version",
    "links.boundary_in": "boundary_in_links",
    "request.sloppy_reals": "sloppy_links",
    "vectors.precision": "dtype",
    "geometry.global": "lattice",
}
_STRUCT_FIELD = re.compile(r"\b(?:request|vectors|links|geometry|options)\.(\w+)")


class Error(RuntimeError):
    """Something that Staghorn refuses or that failed. A solve that does not converge is a result, not an error.

    `kind` is one of argument, layout, value, memory, device, mpi, state, unsupported and internal, or "" where the part
    that raised it does not say.
    """

    def __init__(self, text: str, kind: str = "") -> None:
        super().__init__(text)
        self.kind = kind


def error_of_library(status: int, text: str) -> Error:
    """The error for a negative status of staghorn.h and its text, with the names of Python's arguments."""
    from ._interface import ERRORS

    text = text.replace("The option `no_verify` reads", "`verify=False` reads")
    kinds = {number: kind for kind, number in ERRORS.items()}
    return Error(_STRUCT_FIELD.sub(lambda found: _NAMES.get(found[0], found[1]), text), kinds.get(status, "internal"))


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    """The number that `value` stands for. Raises Error naming the choices."""
    if isinstance(value, str) and value in choices:
        return choices[value]
    words = list(choices)
    expected = ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else words[0]
    raise Error(f"{name}: expected {expected}, found {value!r}", "argument")
