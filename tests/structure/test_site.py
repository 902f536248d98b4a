"""The pages of docs/ become a site without a warning (`./dev site`), and a link that leads nowhere is one."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from program_under_test import built_program

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

for package in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(package, reason=f"{package} is not installed; ./dev test installs it")


def sphinx(pages: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(pages / "site"), str(pages), str(site)]
    environment = {**os.environ, "STAGHORN_PACKAGE": str(built_program("python"))}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    result = sphinx(DOCS, folder)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return folder


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.drawings: dict[str, str] = {}  # words -> SVG

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a" and values.get("href"):
            self.targets.append(values["href"])
        if values.get("class") == "of-notebook":
            self.drawings[values["alt"]] = base64.b64decode(values["src"].split("base64,")[1]).decode()
        if values.get("id"):
            self.anchors.add(values["id"])


def links_of(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def test_every_page_is_on_the_site_and_in_its_contents(site):
    pages = [path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*") if path.suffix in {".md", ".ipynb"}]
    pages = [page for page in pages if page.parts[0] != "site"]
    assert len(pages) > 40
    assert not [str(page) for page in pages if not (site / page).is_file()]
    contents = {target.split("#")[0] for target in links_of(site / "capabilities.html").targets}
    decisions = links_of(site / "decisions/README.html").targets
    assert not [str(page) for page in pages if str(page) not in contents | {"README.html", "capabilities.html"}
                and page.parts[0] != "decisions"]
    assert not [str(page) for page in pages if page.parts[0] == "decisions" and page.name != "README.html"
                and str(page.relative_to("decisions")) not in decisions]


def test_links_of_the_site_lead_to_pages_and_headings(site):
    found = {page: links_of(page) for page in site.rglob("*.html")}
    broken, seen = [], 0
    for page, links in found.items():
        for target in links.targets:
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            goal = (page.parent / path).resolve() if path else page
            seen += 1
            if not goal.is_file() or (anchor and goal.suffix == ".html" and anchor not in found[goal].anchors):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert seen > 1000
    assert not broken


def test_figures_of_the_tutorial_are_those_of_the_run(site, tmp_path, monkeypatch):
    """What the page prints and draws is what the cells give here, where they run without Jupyter."""
    pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
    for package in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not installed; ./dev test installs it")
    (tmp_path / "configs").symlink_to(DOCS.parent / "configs")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((DOCS / "guide" / "pion-mass.ipynb").read_text())
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    text, drawings = (site / "guide" / "pion-mass.html").read_text(), links_of(site / "guide" / "pion-mass.html").drawings
    words = [name for cell in notebook["cells"] for name in cell["metadata"].get("figures", [])]
    assert list(drawings) == words and len(words) == 4 and "not built" not in text
    mass = names["pion"]
    assert f"a m_pi = {mass}" in text
    residuals, times, correlator, effective = drawings.values()
    for rhs in names["reports"][0]["rhs"]:
        assert f"colour {rhs['color']}: {rhs['iterations']} iterations" in residuals
    assert "CG, other" in times
    digits = f"{mass.value:.4f}({round(mass.error * 1e4)})"
    assert digits in correlator.replace("</tspan>", "") and digits in effective, "the mass in the legends"


def test_a_page_made_without_staghorn_says_so(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "site")
    monkeypatch.setenv("STAGHORN_PACKAGE", str(tmp_path))
    import notebook

    text = notebook.as_markdown((DOCS / "guide" / "pion-mass.ipynb").read_text())
    assert notebook.NOT_RUN in text and "<img" not in text and text.count("```python") == 5


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path):
    pages = tmp_path / "docs"
    (pages / "site").mkdir(parents=True)
    for name in ("conf.py", "notebook.py", "site.css"):
        (pages / "site" / name).write_text((DOCS / "site" / name).read_text())
    (pages / "README.md").write_text("# Index\n\n| who | page |\n| --- | --- |\n| all | [a page](page.md) |\n")
    (pages / "page.md").write_text("# A page\n\nSee [there](nowhere.md) and [the code](../solver/README.md).\n")
    result = sphinx(pages, tmp_path / "site")
    assert result.returncode != 0 and "nowhere.md" in result.stderr
    assert "solver/README.md" not in result.stderr
