"""docs/capabilities.md says what the program says: its formats, methods, sources and systems, and what it refuses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "capabilities.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
REFUSED = [(row[0].strip("`"), row[1]) for row in ROWS if row[0].startswith("`--")]


def row(name: str) -> str:
    """What the page says in the row of that name."""
    return next(cells[1] for cells in ROWS if cells[0] == name)


def table(first: str) -> dict[str, list[str]]:
    """The rows of the table whose head begins with `first`, by the word between backquotes."""
    lines = PAGE[PAGE.index(f"| {first} |"):].split("\n\n")[0].splitlines()[2:]
    return {re.match(r"\| `(\w+)`", line)[1]: [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}


def words(text: str) -> set[str]:
    return set(re.findall(r"`([\w-]+)`", text))


def choices(result) -> set[str]:
    """The names that an error offers: "expected a, b or c, found ..."."""
    listed = re.search(r"expected (.*), found", result.stderr)[1]
    return set(re.split(r", | or ", re.sub(r" \(.*\)", "", listed)))


def test_formats_of_links_are_those_that_convert_writes(staghorn, small_gauge, tmp_path):
    formats = table("links")
    assert set(formats) == choices(staghorn("convert", small_gauge, "x", "--format", "tar"))
    assert all(cells[:2] == ["yes", "yes"] for cells in formats.values())
    for name, (_, _, numbers) in formats.items():
        for precision in ("fp32", "fp64"):
            path = tmp_path / f"{name}-{precision}"
            written = staghorn("convert", small_gauge, path, "--format", name, "--precision", precision)
            assert (written.returncode == 0) == (precision in numbers), (name, precision)


def test_formats_of_vectors_are_those_that_solve_writes(staghorn, small_gauge, tmp_path):
    formats = table("colour vectors")
    refused = staghorn("solve", "--gauge", small_gauge, "--mass", 1, "--output", "x", "--output-format", "tar")
    assert {name for name, cells in formats.items() if cells[1] == "yes"} == choices(refused)
    read = staghorn("inspect", "--help", check=True).stdout
    assert all(name in read.lower() for name in formats)


def test_quarks_systems_sources_and_methods_are_those_of_solve(staghorn, small_gauge):
    def offered(option, value="nothing"):
        return choices(staghorn("solve", "--gauge", small_gauge, "--mass", 1, option, value))

    assert offered("--action") == {"naive", "asqtad", "hisq"}
    assert words(row("systems")) == offered("--system")
    refused = staghorn("solve", "--gauge", small_gauge, "--mass", 1, "--source", "nothing").stderr
    assert words(row("sources")) == set(re.findall(r"([\w-]+):\w", refused.split("expected")[1].split(", found")[0]))
    methods = choices(staghorn("solve", "--gauge", small_gauge, "--mass", 1, "--solver", "nothing"))
    assert methods - {"auto"} <= words(row("methods"))


def test_commands_beside_solve_are_those_of_the_program(staghorn):
    listed = re.findall(r"^  (\w+) ", staghorn("--help", check=True).stdout.split("Commands:")[1], re.MULTILINE)
    assert words(row("the program")) == set(listed)


@pytest.mark.parametrize("asked, named", REFUSED, ids=[asked for asked, _ in REFUSED])
def test_what_is_refused_is_refused_by_name(staghorn, small_gauge, expect_error, asked, named):
    mass = [] if "--mass" in asked else ["--mass", 1]
    result = staghorn("solve", "--gauge", small_gauge, *mass, "--output", "unused", *shlex.split(asked))
    expect_error(result, result.returncode or 1, named)


def test_the_page_refuses_several_things():
    assert len(REFUSED) >= 9
