"""What tests of the installed package share: commands that must succeed, and the code of the documents."""

from __future__ import annotations

import re
import subprocess

from program_under_test import ROOT


def run(*command, **how) -> str:
    """What the command prints; it must succeed."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, **how)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def block(page: str, language: str) -> str:
    """The first block of code in `language` on a page of docs/interfaces/."""
    return re.search(rf"```{language}\n(.*?)```", (ROOT / "docs" / "interfaces" / page).read_text(), re.DOTALL)[1]
