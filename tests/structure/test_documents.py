"""Links between documents lead somewhere, decisions that are cited exist, and records keep to their form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS, DECISIONS = ROOT / "docs", ROOT / "docs" / "decisions"
FOLDERS = ["halo", "dirac", "lattice_io", "solver", "python", "tests", "configs", "docs", "cmake"]
TEXT = {".md", ".hpp", ".cpp", ".cu", ".cuh", ".py", ".cmake", ".in", ".txt"}


def files(*suffixes: str) -> list[Path]:
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in found if path.suffix in suffixes]


def records() -> list[Path]:
    return sorted(DECISIONS.rglob("[0-9]*.md"), key=lambda path: path.name)


def test_links_between_documents_resolve():
    links = [(path, target) for path in files(".md") for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text())]
    local = [(path, target.split("#")[0]) for path, target in links if not re.match(r"\w+:|#", target)]
    assert len(local) > 30
    assert not [f"{path.relative_to(ROOT)}: {target}" for path, target in local if not (path.parent / target).exists()]


def test_documents_that_are_named_exist():
    names = re.compile(r"(?<![\w./-])docs/[\w/-]+(?:\.\w+)+")
    named = [(path, name) for path in files(*TEXT) for name in names.findall(path.read_text(errors="replace"))]
    assert len(named) > 5
    assert not sorted({f"{path.relative_to(ROOT)}: {name}" for path, name in named if not (ROOT / name).exists()})


def test_places_where_to_look_exist():
    """The questions of a newcomer in docs/development/architecture.md lead to files and folders that are there."""
    table = (DOCS / "development" / "architecture.md").read_text().split("## Where to look")[1].split("##")[0]
    places = re.findall(r"`([\w/.]+)`", table)
    assert len(places) > 15
    assert not [place for place in places if not (ROOT / place).exists()]


def test_decisions_that_are_cited_exist():
    known = {path.name[:3] for path in records()}
    cited = [(path, number) for path in files(*TEXT) for number in re.findall(r"\bdecision\s+(\d{3})\b", path.read_text(errors="replace"))]
    assert cited
    assert not [f"{path.relative_to(ROOT)}: decision {number}" for path, number in cited if number not in known]


def test_index_lists_every_document_once():
    index = (DOCS / "README.md").read_text()
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*") if path.suffix in {".md", ".ipynb"} and DECISIONS not in path.parents]
    assert len(pages) > 20
    assert not [str(page) for page in pages if page.name != "README.md" and index.count(f"({page})") != 1]
    index = (DECISIONS / "README.md").read_text()
    assert not [path.name for path in records() if f"[{path.read_text().splitlines()[0][6:]}]({path.relative_to(DECISIONS)})" not in index]


@pytest.mark.parametrize("path", records(), ids=lambda path: path.stem[:3])
def test_a_decision_has_its_form(path):
    text = path.read_text()
    assert text.startswith(f"# {path.name[:3]} ")
    assert len(text.splitlines()) <= 40
    assert len(re.findall(r"^\| ---", text, re.MULTILINE)) <= 1, "one table"
    assert re.search(r"^20\d\d-\d\d-\d\d", text.splitlines()[2]), "the third line begins with the date"
    for part in ("Question", "Choice", "Alternatives", "What would change it"):
        assert f"**{part}.**" in text, part


def test_numbers_of_decisions_are_all_different():
    assert [int(path.name[:3]) for path in records()] == list(range(1, len(records()) + 1))
