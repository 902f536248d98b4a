"""Arguments are what the annotations of a public function say, or an error names the argument, what was expected and what was found.

One table says what each annotation accepts, in words of users. It accepts what NumPy has for a number too.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .errors import Error, WrongTypeError

P = ParamSpec("P")
R = TypeVar("R")


class Kind(NamedTuple):
    """What an annotation accepts."""

    one: str
    several: str
    accepts: Callable[[Any], bool]


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or _kind_of_numbers(value) == "b" or type(value) is int and value in (0, 1)


def _is_number(value: Any, convert: Callable[[Any], Any]) -> bool:
    if isinstance(value, (bool, str, bytes, complex)) or _kind_of_numbers(value) in ("b", "c") or getattr(value, "ndim", 0) != 0:
        return False
    try:
        convert(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _kind_of_numbers(value: Any) -> str:
    """That of NumPy: "b", "i", "u", "f", "c"; "" where there is none."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))


def _is_array(value: Any) -> bool:
    import numpy as np

    try:
        return value is not None and np.asarray(value).dtype.kind in "biufc"
    except Exception:  # whatever its library raises
        return False


def _is_sequence(value: Any) -> bool:
    return (hasattr(value, "__len__") and hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0
            and not isinstance(value, (str, bytes, Mapping, Set)))


_PATHS = (str, bytes, os.PathLike)
_REPORTS = (Mapping, *_PATHS)
_KINDS = {
    "None": Kind("None", "", lambda value: value is None),
    "bool": Kind("True or False", "words True or False", _is_truth),
    "int": Kind("a whole number", "whole numbers", lambda value: _is_number(value, operator.index)),
    "float": Kind("a number", "numbers", lambda value: _is_number(value, float)),
    "str": Kind("a text", "texts", lambda value: isinstance(value, str)),
    "PathLike": Kind("the name of a file", "names of files", lambda value: isinstance(value, _PATHS)),
    "ArrayLike": Kind("an array of numbers", "arrays of numbers", _is_array),
    **dict.fromkeys(("Mapping", "dict"), Kind("a dict", "dicts", lambda value: isinstance(value, Mapping))),
    "ReportLike": Kind("a Report, a dict or the path of a JSON file", "", lambda value: isinstance(value, _REPORTS)),
    "Reports": Kind("a Report, a dict or the path of a JSON file, or several of them", "",
                    lambda value: isinstance(value, (*_REPORTS, Iterable)) and not hasattr(value, "dtype")),
    "Axes": Kind("axes of matplotlib", "", lambda value: hasattr(value, "plot") and hasattr(value, "figure")),
    "Figure": Kind("a figure of matplotlib", "", lambda value: hasattr(value, "savefig")),
    "Mass": Kind("a Mass", "", lambda value: hasattr(value, "value") and hasattr(value, "first")),
    "np.ndarray": Kind("an array of numbers", "", lambda value: _kind_of_numbers(value) in tuple("biuf")),
    "Callable": Kind("a function", "functions", callable),
    "Boundary": Kind("a text", "", lambda value: isinstance(value, str) or _is_sequence(value)),
    # What these accept, the function says itself.
    **dict.fromkeys(("Any", "SupportsDLPack", "Array", "Progress"), Kind("anything", "", lambda value: True)),
}
_COUNTS = {2: "two ", 3: "three ", 4: "four "}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, whose arguments are looked at before it runs. Raises WrongTypeError."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given: dict[str, Any] = {}
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            pass  # Python says it below
        for name, value in given.items():
            annotation = signature.parameters[name].annotation
            if annotation is not inspect.Parameter.empty and signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
                check_argument(name, value, annotation)
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if isinstance(error, Error) or "incompatible function arguments" not in str(error):
                raise
            raise _does_not_fit(given) from error
    return call


def check_argument(name: str, value: Any, annotation: str) -> None:
    """Raises WrongTypeError where `value` is not what `annotation` says."""
    kinds = kinds_of(annotation)
    if not any(kind.accepts(value) for kind in kinds):
        expected = " or ".join(dict.fromkeys(kind.one for kind in kinds if kind.one != "None"))
        several = "; several are `masses`" if name == "mass" and _is_sequence(value) else ""
        raise WrongTypeError(f"{name}: expected {expected}, found {_shown(value)}{several}")


@cache
def kinds_of(annotation: str) -> tuple[Kind, ...]:
    """What an annotation stands for, as `float | Sequence[float] | None`. Raises KeyError for one that the table has not."""
    return tuple(_kinds(ast.parse(annotation, mode="eval").body))


def _kinds(node: ast.expr) -> Iterable[Kind]:
    if isinstance(node, ast.BinOp):
        return [*_kinds(node.left), *_kinds(node.right)]
    if not isinstance(node, ast.Subscript):
        return [_KINDS[ast.unparse(node)]]
    name = ast.unparse(node.value)
    if name in ("Callable", "Mapping", "dict", "np.ndarray"):
        return [_KINDS[name]]
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    (item,) = _kinds(parts[0])
    if name == "Iterable":
        return [Kind(f"a list of {item.several}", "", lambda value: isinstance(value, Iterator) or _is_sequence(value) and all(map(item.accepts, value)))]
    length = len(parts) if name == "tuple" else None
    if name not in ("tuple", "Sequence"):
        raise KeyError(name)
    return [Kind(f"{_COUNTS[length]}{item.several}" if length else f"a list of {item.several}", "",
                 lambda value: _is_sequence(value) and len(value) == (length or len(value)) and all(map(item.accepts, value)))]


def _shown(value: Any) -> str:
    """The value, or its type where the value is long."""
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"one of {type(value).__module__}.{type(value).__qualname__}"


def _does_not_fit(given: dict[str, Any]) -> Error:
    """The error for numbers of the right kind that the library has no room for: of these the largest."""
    numbers = [(name, int(one)) for name, value in given.items() for one in (value if _is_sequence(value) else [value])
               if _is_number(one, operator.index)]
    name, number = max(numbers, key=lambda pair: pair[1] if pair[1] >= 0 else math.inf, default=("arguments", 0))
    return WrongTypeError(f"{name}: expected a number that the library can hold, found {number}")
