"""A notebook as Markdown for the site, run on the way: what its cells print and draw is on the page, each below its cell.

The run is that of a kernel of Jupyter, in a folder of its own that has configs/, with the Staghorn that is built here:
build/python, or the folder that STAGHORN_PACKAGE names. Where there is none, the page has no figures and says so.
"""

from __future__ import annotations

import base64
import html
import importlib.util
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# Before the first cell: figures are drawings whose texts stay texts, at the size at which they are made.
DRAWINGS = """%config InlineBackend.figure_formats = ["svg"]
import matplotlib
matplotlib.rcParams["svg.fonttype"] = "none"
"""
NOT_RUN = ("*This page was made where Staghorn is not built, so what the cells print and draw is not on it. `./dev site` builds "
           "Staghorn and makes the whole page.*")


def package() -> Path | None:
    """The folder to import staghorn from, with its compiled module; None where there is none, or no kernel to run a notebook."""
    folder = Path(os.environ.get("STAGHORN_PACKAGE") or ROOT / "build" / "python")
    built = any((folder / "staghorn").glob("_native*.so"))
    return folder if built and all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel", "matplotlib")) else None


def run(text: str, imported_from: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells. Raises nbclient.exceptions.CellExecutionError where a cell does."""
    import nbclient
    import nbformat

    notebook = nbformat.reads(text, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(DRAWINGS))
    path = os.pathsep.join(filter(None, [str(imported_from), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "configs").symlink_to(ROOT / "configs")
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}},
                                         extra_arguments=["--IPKernelApp.log_level=ERROR"])
        client.log.setLevel("WARNING")
        client.execute(env=environment)
    del notebook.cells[0]
    return notebook  # type: ignore[no-any-return]  # a dict


def as_markdown(text: str, runs: bool = True) -> str:
    """Prose as it is; code as blocks of Python, each with what it prints and draws. `metadata.figures` of a cell names its
    figures, for people who do not see them."""
    found = package() if runs else None
    notebook = run(text, found) if found else json.loads(text)
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
        if found and cell["cell_type"] == "code":
            parts += _outputs(cell)
    if not found:
        parts.insert(1, NOT_RUN)
    return "\n\n".join(parts)


def _outputs(cell: dict[str, Any]) -> list[str]:
    parts = []
    names = iter(cell["metadata"].get("figures", []))
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/svg+xml" in data:
            name = next(names, None)
            if name is None:
                raise ValueError(f"metadata.figures: expected a name for each figure of the cell, found fewer: {cell['source'][:60]!r}")
            parts.append(_figure(data["image/svg+xml"], name))
        elif words := output.get("text") or data.get("text/plain", ""):
            if not re.fullmatch(r"<.* object at 0x.*>|<Axes.*>", words.strip()):
                parts.append(f"```text\n{words.rstrip()}\n```")
    if (left := next(names, None)) is not None:
        raise ValueError(f"metadata.figures: expected names of figures that the cell draws, found {left!r} without one")
    return parts


def _figure(drawing: str, name: str) -> str:
    """One line of HTML with the drawing inside, so that the page needs no other file."""
    coded = base64.b64encode(drawing.encode()).decode()
    return f'<img class="of-notebook" alt="{html.escape(name)}" src="data:image/svg+xml;base64,{coded}">'
