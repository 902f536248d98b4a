"""The list of headers that are installed is right: what other codes include, and all that these include in turn."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "cmake" / "installed_headers.cmake"
OWN = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OTHER = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)


def listed(name: str) -> set[str]:
    words = re.search(rf"set\({name}\b(.*?)\)", re.sub("#.*", "", LISTS.read_text()), re.DOTALL)[1].split()
    assert len(words) == len(set(words)), f"a header stands twice in {name}"
    return set(words)


def included_by(doors: set[str]) -> set[str]:
    """What `doors` include, and what that includes, and so on."""
    seen, left = set(), list(doors)
    while left:
        for name in OWN.findall((ROOT / left.pop()).read_text()):
            if name not in seen:
                seen.add(name)
                left.append(name)
    return seen - doors


def test_installed_headers_are_those_that_other_codes_need():
    public, included = listed("staghorn_public_headers"), listed("staghorn_included_headers")
    needed = included_by(public)
    assert public and needed
    assert not sorted(needed - included), f"add these lines to {LISTS.name}"
    assert not sorted(included - needed), f"remove these lines from {LISTS.name}"


def test_program_of_the_documentation_includes_public_headers_only():
    program = re.search(r"```cpp\n(.*?)```", (ROOT / "docs" / "interfaces" / "library.md").read_text(), re.DOTALL)[1]
    assert set(OWN.findall(program)) == listed("staghorn_public_headers")


def test_installed_headers_include_no_library_but_mpi():
    headers = listed("staghorn_public_headers") | listed("staghorn_included_headers")
    libraries = {name for header in headers for name in OTHER.findall((ROOT / header).read_text()) if "." in name or "/" in name}
    assert libraries <= {"mpi.h", "omp.h"}, libraries
