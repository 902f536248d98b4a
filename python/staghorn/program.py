"""The command `staghorn` of an installed package: the program that came with it, in place of this process."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Runs the program with the words of the command line; it does not return."""
    program = Path(__file__).parent / "bin" / "staghorn"
    os.execv(program, [str(program), *sys.argv[1:]])
