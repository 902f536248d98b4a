"""Options by name, from the table of the library (solver/request/option_table.hpp): the same words, defaults and checks as those of
the program, for Context, Gauge, Session and campaign."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .compiled_modules import loading
from .errors import did_you_mean
from .paths import PATHS

with loading():
    from . import _interface, _native

_ROWS: list[dict[str, Any]] = _native.options()
# name -> row. `mass` and `source` of a solve are arguments of their own.
SESSION_OPTIONS = {row["name"]: row for row in _ROWS if row["of"] == "session"}
SOLVE_OPTIONS = {row["name"]: row for row in _ROWS if row["of"] == "solve" and row["name"] not in ("mass", "source")}
_KNOWN = {row["name"] for row in _ROWS}
OPERATOR_OPTIONS = {row["name"]: row for row in _ROWS if row["group"] == "operator"}
OPTIONS = {**SOLVE_OPTIONS, **SESSION_OPTIONS}


def words(options: Mapping[str, Any]) -> _interface.Words:
    """Options as the library takes them. Raises TypeError for a name that is none, Error for a value that makes no sense."""
    return _interface.Words(option_texts(_KNOWN, options))


def option_texts(known: Collection[str], options: Mapping[str, Any]) -> dict[str, str]:
    """The values of `options` as the texts that the table parses, without those that are None. Names that are not in `known` raise
    TypeError."""
    for name in options:
        if name not in known:
            elsewhere = f"; it is an option of {'Session and Context' if name in SESSION_OPTIONS else 'solve'}" if name in OPTIONS else ""
            raise TypeError(f"unexpected keyword argument {name!r}{elsewhere or did_you_mean(name, known)}")
    return {name: option_text(value, ";" if name == "sources" else ",") for name, value in options.items() if value is not None}


def option_text(value: Any, separator: str = ",") -> str:
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return separator.join(map(option_text, value))
    return os.fsdecode(value) if isinstance(value, PATHS) else str(value)


def explain_options(function: Any, rows: Mapping[str, Any]) -> None:
    """Gives `function` the signature that its **options stand for."""
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    of_table = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row["default"]) for name, row in rows.items()]
    function.__signature__ = inspect.Signature(own + of_table)


def list_options(documented: Any, rows: Mapping[str, Any], indent: str) -> None:
    """Puts one paragraph for each option, with name, values, default and help, into the docstring where it says {options}."""
    width = max(map(len, rows))
    lines = []
    for name, row in rows.items():
        default = f" (default: {row['default'] or 'none'})" if row["default"] is not None else ""
        lines += textwrap.wrap(f"{name:<{width}}  {row['value']}: {row['help']}{default}", 118, initial_indent=indent,
                               subsequent_indent=indent + " " * (width + 2))
    documented.__doc__ = documented.__doc__.replace("{options}", "\n".join(lines).strip())
