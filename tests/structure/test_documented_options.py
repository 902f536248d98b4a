"""Every option of every command, and every word that it takes, is on a page for users; names that pages write are options."""

from __future__ import annotations

import re

import pytest
from program_under_test import ROOT

PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"decisions", "development"} & set(path.parts))]
TEXT = "\n".join(path.read_text() for path in PAGES)
OPTION = re.compile(r"^  --([\w-]+)(?: arg| ([^ ]+))?", re.MULTILINE)
# Files that stand without the name of their option.
POSITIONAL = {"campaign": {"what", "reports"}, "report": {"reports"}, "inspect": {"file"}, "convert": {"in", "out"}, "bench": {"what"}}


@pytest.fixture(scope="module")
def options(staghorn) -> dict[str, list[tuple[str, str]]]:
    """command -> its options, each with the value that --help shows."""
    commands = re.findall(r"^  (\w+) +\w", staghorn("--help", check=True).stdout, re.MULTILINE)
    return {command: OPTION.findall(staghorn(command, "--help", check=True).stdout) for command in commands}


def test_every_option_is_on_a_page(options):
    assert len(options) > 10 and len(options["solve"]) > 50
    missing = {(command, name) for command, found in options.items() for name, _ in found
               if name not in POSITIONAL.get(command, ()) and not re.search(rf"--{name}\b(?!-)", TEXT)}
    assert not missing


def test_every_word_that_an_option_takes_is_on_a_page(options):
    words = {(command, name, re.sub(r"[\[(:].*", "", word)) for command, found in options.items() for name, value in found if "|" in value
             for word in value.split("|")}
    words = {one for one in words if re.fullmatch(r"[a-z][\w-]+", one[2])}
    assert len(words) > 50 and not {one for one in words if not re.search(rf"\b{re.escape(one[2])}\b", TEXT)}


def test_options_on_pages_exist(options):
    known = {name for found in options.values() for name, _ in found} | {"help", "version", "config"}
    experiments = {"slow-device", "inject", "interval-from", "degree"}  # --help does not list them
    for page in PAGES:
        for command, rest in re.findall(r"\bstaghorn (\w+)((?: [^|`\n]*)?)", page.read_text()):
            for name in re.findall(r"(?<![\w-])--([a-z][\w-]+)", rest):
                assert command not in options or name in known | experiments, (page.name, command, name)
