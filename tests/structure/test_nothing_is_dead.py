"""No function stands in the program and the libraries that nothing calls: what the objects of the build define, and what refers to it.

Functions that are left out by the compiler, templates and inline functions are not seen. What tests alone call belongs to the tests.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

PRODUCT = ("staghorn_core", "staghorn_commands", "staghorn_interface", "staghorn_milc", "staghorn_python", "staghorn_python_interface", "staghorn")
CALLED_FROM_OUTSIDE = re.compile(r"main|PyInit_\w+|staghorn_\w+|quda\w+|\w+Quda\w*")  # by the loader, Python, C and Fortran, MILC


def lines(*words) -> list[list[str]]:
    output = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in output.splitlines()]


def defined(objects: list[Path]) -> set[str]:
    """Mangled names of functions that other objects can see."""
    return {words[0] for words in lines("nm", "--extern-only", "--defined-only", "--format=posix", *objects) if len(words) > 2 and words[1] == "T"}


def referred_to(objects: list[Path]) -> set[str]:
    """Mangled names that relocations name, in whatever object."""
    return {re.split(r"[+-]0x", words[2])[0] for words in lines("objdump", "--reloc", *objects) if len(words) == 3}


def readable(names: set[str]) -> list[str]:
    return sorted(subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines())


def is_constructor(name: str) -> bool:
    """Or a destructor: a class has several of each, and calls take one."""
    return re.search(r"(\w+)(\[abi:\w+\])?::~?\1\(", name) is not None


def objects_of(program: Path) -> list[Path]:
    """Of the program and the libraries, as the build now makes them: earlier ones may lie about."""
    database = program.parent / "compile_commands.json"
    if not database.is_file():
        pytest.skip("the program is not in its build folder")
    found = []
    for entry in json.loads(database.read_text()):
        words = shlex.split(entry["command"])
        found.append(Path(entry["directory"]) / words[words.index("-o") + 1])
    return [path for path in found if any(f"{target}.dir" in path.parts for target in PRODUCT)]


def test_every_function_is_called(program):
    objects = objects_of(program)
    own = [path for path in objects if not path.name.endswith(".cu.o")]
    if own == objects:
        pytest.skip("no CUDA code in this build, which calls some of them")
    uncalled = readable(defined(own) - referred_to(objects))
    dead = [name for name in uncalled if not is_constructor(name) and not CALLED_FROM_OUTSIDE.fullmatch(name.split("(")[0])]
    assert len(own) > 50 and not dead, dead


def test_a_function_that_nothing_calls_is_seen(tmp_path):
    source = tmp_path / "two.cpp"
    source.write_text("int counter; void called() { ++counter; } void uncalled() { ++counter; } int main() { called(); }")
    subprocess.run(["c++", "-O1", "-fno-inline", "-fPIC", "-c", source, "-o", tmp_path / "two.o"], check=True)
    objects = [tmp_path / "two.o"]
    assert readable(defined(objects) - referred_to(objects)) == ["main", "uncalled()"]
