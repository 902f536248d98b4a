"""The keywords of options as types, made from the table of options: the end of python/staghorn/_native.pyi, which this file writes.

    PYTHONPATH=build/python python tests/typed_options.py
"""

from __future__ import annotations

import re
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "python" / "staghorn" / "_native.pyi"
BEGIN = "# Keywords of options, from the table of options by tests/typed_options.py.\n"
BY_NAME = {"masses": "Sequence[float] | str", "mesons": "Sequence[str] | str", "sources": "Sequence[str] | str", "boundary": "Sequence[float | str] | str",
           "grid": "Sequence[int] | str", "device": "str | int"}
BY_VALUE = {"on|off": "bool", "N": "int", "K": "int", "TOL": "float", "U": "float", "E": "float", "SECONDS": "float", "F": "str | bytes | PathLike[Any]"}


def type_of(row: dict) -> str:
    if row["name"] in BY_NAME:
        return BY_NAME[row["name"]]
    if row["value"] in BY_VALUE:
        return BY_VALUE[row["value"]]
    words = row["value"].split("|")
    if len(words) > 1 and all(re.fullmatch(r"\w+", word) for word in words):
        return f"Literal[{', '.join(word if word.isdigit() else repr(word).replace(chr(39), chr(34)) for word in words)}]"
    return "Literal[18]" if row["value"] == "18" else "str"


def text_of(rows: list[dict]) -> str:
    # Options that some function has as an argument of its own have a class of their own.
    classes = {"VectorWords": ("TypedDict", lambda row: row["of"] == "solve" and row["name"] not in ("mass", "source", "phases")),
               "SolveWords": ("VectorWords", lambda row: row["name"] == "phases"),
               "GaugeWords": ("TypedDict", lambda row: row["group"] == "operator" and row["name"] not in ("boundary", "naik")),
               "FileWords": ("GaugeWords", lambda row: row["name"] == "naik"),
               "ContextWords": ("FileWords", lambda row: row["of"] == "session" and row["group"] != "operator" and row["name"] != "grid" or row["name"] == "boundary"),
               "SessionWords": ("ContextWords", lambda row: row["name"] == "grid")}
    text = BEGIN
    for name, (base, belongs) in classes.items():
        text += f"class {name}({base}, total=False):\n"
        text += "".join(f"    {row['name']}: {type_of(row)} | None\n" for row in rows if belongs(row)) + "\n"
    return text + ("class AllWords(SolveWords, SessionWords, total=False): ...\n"
                   "class AllVectorWords(VectorWords, SessionWords, total=False): ...\n")


def written() -> str:
    """What the stub has of them."""
    return STUB.read_text().partition(BEGIN)[1] + STUB.read_text().partition(BEGIN)[2]


if __name__ == "__main__":
    from staghorn import _native

    STUB.write_text(STUB.read_text().partition(BEGIN)[0].rstrip("\n") + "\n\n" + text_of(_native.options()))
