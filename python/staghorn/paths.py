"""Names of files: str, bytes or os.PathLike, of any bytes. In reports, messages and pages a byte that is not UTF-8 is \\xNN."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Union

from .arguments import checked
from .errors import Error

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
PATHS = (str, bytes, os.PathLike)  # for isinstance


def shown(path: PathLike) -> str:
    """The name as messages have it: it can be printed, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@checked
def file_name(text: str) -> str:
    r"""The name of a file that a report has as `text`, as `open` takes it: \xNN becomes the byte."""
    return os.fsdecode(re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode("utf-8")))


def read_json(path: PathLike, expected: str) -> dict[str, Any]:
    """The object in a file of JSON. Raises OSError where there is no such file, and Error where it holds something else."""
    with open(os.fsdecode(path), encoding="utf-8") as file:
        try:
            loaded = json.load(file)
        except RecursionError:
            found = "JSON nested too deeply"
        except ValueError as error:  # of bytes that are not UTF-8, too
            found = f"no JSON: {error}"
        else:
            if isinstance(loaded, dict):
                return loaded
            found = f"JSON that is a {type(loaded).__name__}"
    raise Error(f"{shown(path)}: expected {expected}, found {found}", "file")
