"""How Sphinx makes the site from docs/ (`./dev site`). The pages stay plain Markdown that reads well as a file.

Three things are added on the way: the contents at the side, which are the links of docs/README.md in their order; the notebook,
as Markdown with what its cells print and draw (notebook.py); and links to files outside docs/, which become names of files,
because the site does not hold these.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))

import notebook  # noqa: E402

project = "Staghorn"
author = "The Staghorn developers"
copyright = "The Staghorn developers, BSD-3-Clause"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
root_doc = "README"
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "Staghorn"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
myst_heading_anchors = 3
nitpicky = True
highlight_language = "none"

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def contents(index: str, deep: bool) -> str:
    """Contents at the side, of the pages an index links to; `deep` with one heading for each of its readers."""
    groups: list[tuple[str, list[str]]] = []
    for row in re.findall(r"^\|.*\|$", index, re.MULTILINE):
        who = row.split("|")[1].strip()
        pages = [target for _, target in LINK.findall(row) if re.search(r"\.(md|ipynb)$", target) and not target.startswith("..")]
        if pages and (not groups or (deep and who)):
            groups.append((who if deep else "", []))
        if pages:
            groups[-1][1].extend(pages)
    blocks = []
    for caption, pages in groups:
        options = ":hidden:\n" + (f":caption: For {caption}\n" if caption else "")
        blocks.append("```{toctree}\n" + options + "\n" + "\n".join(re.sub(r"\.\w+$", "", page) for page in pages) + "\n```\n")
    return "\n" + "\n".join(blocks)


def name_files_outside(page: Path, text: str) -> str:
    """`[text](../../solver/README.md)` -> text (`solver/README.md`)."""
    def name(link: re.Match[str]) -> str:
        words, target = link[1], link[2].split("#")[0]
        if re.match(r"\w+:", target) or not target:
            return link[0]
        path = Path(os.path.normpath(page.parent / target))
        if path.is_relative_to(DOCS):
            return link[0]
        place = f"`{path.relative_to(DOCS.parent)}`"
        return place if words.strip("`") in place else f"{words} ({place})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)  # code stays as it is
    return "".join(part if part.startswith("```") else LINK.sub(name, part) for part in parts)


def read_source(app, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    text = notebook.as_markdown(source[0], app.builder.name == "html") if page.suffix == ".ipynb" else source[0]
    more = contents(text, docname == "README") if page.name == "README.md" else ""
    source[0] = name_files_outside(page, text) + more


def lead_to_first_page(app, exception) -> None:
    if exception is None and app.builder.name == "html":
        (Path(app.outdir) / "index.html").write_text('<!doctype html><meta http-equiv="refresh" content="0; url=README.html"><title>Staghorn</title>\n')


def setup(app) -> dict[str, bool]:
    app.connect("source-read", read_source)
    app.connect("build-finished", lead_to_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
