"""The code of docs/interfaces/python.md and of the notebook runs as it stands, and its types are sound where a checker is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import staghorn
from launcher import launcher_of, ranks_command
from program_under_test import ROOT
from typed_options import text_of, written

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
from staghorn import _native  # noqa: E402

PACKAGE = Path(staghorn.__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "interfaces" / "python.md").read_text(), re.DOTALL)
WITH_RANKS = [block for block in BLOCKS if block.startswith("# mpirun")]
ON_GPUS = [block for block in BLOCKS if block.startswith("# on a GPU")]
HERE = [block for block in BLOCKS if block not in WITH_RANKS + ON_GPUS]


@pytest.fixture
def at_root(tmp_path, monkeypatch):
    """An empty folder, where the code may leave its pictures."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_code_of_the_page_runs_in_its_order(at_root):
    pytest.importorskip("matplotlib")
    assert len(HERE) >= 5 and len(WITH_RANKS) == 2 and len(ON_GPUS) == 1
    names: dict = {}
    for block in HERE:
        exec(block, names)  # with its own assertions
    assert names["report"]["outcome"] == "certified" and names["typed"].certified
    assert (at_root / "residuals.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.mpi
@pytest.mark.parametrize("block", WITH_RANKS, ids=["together", "in groups"])
def test_code_for_ranks_runs_on_them(at_root, block):
    pytest.importorskip("mpi4py")
    (at_root / "this.py").write_text(block)
    environment = {**os.environ, **launcher_of().variables, "PYTHONPATH": str(PACKAGE)}
    command = [*ranks_command(2), sys.executable, "this.py"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    assert result.returncode == 0, result.stderr


def test_every_order_of_arrays_is_on_the_page():
    from staghorn.fields import LINK_ORDERS, VECTOR_ORDERS

    text = (ROOT / "docs" / "interfaces" / "python.md").read_text()
    assert not [order for order in {*LINK_ORDERS, *VECTOR_ORDERS} - {"cps-stag-block"} if f'"{order}"' not in text]


def notebook_cells() -> list[str]:
    notebook = json.loads((ROOT / "docs" / "guide" / "pion-mass.ipynb").read_text())
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_notebook_goes_from_a_gauge_file_to_a_pion_mass(at_root):
    """Judged by a fit of its own: the mass whose cosh goes through the mean correlator at t = 4 and 7."""
    pytest.importorskip("matplotlib")
    cells = notebook_cells()
    assert sum(bool(line.strip()) for cell in cells for line in cell.splitlines()) <= 40
    names: dict = {}
    for cell in cells:
        exec(cell, names)
    pion, c = names["pion"], names["correlators"].mean(axis=0)
    low, high = 0.1, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        too_light = np.cosh(4 * middle) / np.cosh(middle) < c[4] / c[7]
        low, high = (middle, high) if too_light else (low, middle)
    assert 0 < pion.error < 0.05 and abs(pion.value - low) < 2 * pion.error
    assert len(names["reports"]) == 8 and len(list(at_root.glob("*.pdf"))) == 4


PROGRAM_OF_TYPES = """
from staghorn import Context, Error, Gauge, Report
from staghorn.analysis import Mass, pion_mass
from staghorn.plot import residuals
import numpy as np
from numpy.typing import NDArray

def run(context: Context, b: NDArray[np.complex64]) -> float:
    gauge: Gauge = context.read("a", verify=False)
    x, report = gauge.solve(0.1, b, progress=lambda n, r: None)
    same: NDArray[np.complex64] = x
    xs, reports = gauge.multishift([0.0, 0.1], b, mass=0.1)
    made: Report = report
    hopped: NDArray[np.complex64] = gauge.hop(same)
    residuals([made, reports.to_dict()], labels=["x", "y"])
    pion: Mass = pion_mass(made.pion_correlator, 3, 5)
    if report.spectrum is not None:
        return report.spectrum.smallest + report.rhs[0].residual_true
    raise Error("no spectrum" + str(hopped.shape) + str(xs.dtype) + str(pion))
"""


# basedpyright is pyright in a package that needs nothing from elsewhere.
CHECKERS = {"mypy": (("mypy",), ["--strict", "--no-error-summary"]),
            "pyright": (("basedpyright", "pyright"), ["--pythonpath", sys.executable])}


@pytest.mark.parametrize("name", CHECKERS)
def test_types_are_sound(name, tmp_path):
    modules, options = CHECKERS[name]
    found = next((module for module in modules if importlib.util.find_spec(module)), None)
    if found is None:
        pytest.skip(f"{name} is not installed; ./dev test installs it")
    checker = [found, *options]
    (tmp_path / "page.py").write_text("\n".join(HERE))
    (tmp_path / "ranks.py").write_text(WITH_RANKS[0])
    (tmp_path / "notebook.py").write_text("\n".join(notebook_cells()))
    (tmp_path / "program.py").write_text(PROGRAM_OF_TYPES)
    (tmp_path / "wrong.py").write_text(PROGRAM_OF_TYPES.replace("report.rhs[0].residual_true", "report.rhs[0].residual_treu"))
    (tmp_path / "misspelt.py").write_text("import staghorn\nstaghorn.solve('F', 0.1, 'z2:1', slopy='fp32')\nstaghorn.Session('F', precision='fp46')\n")
    names = ["page.py", "ranks.py", "notebook.py", "program.py", "wrong.py", "misspelt.py"]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE), "PYTHONPATH": str(PACKAGE)}
    settings = {"extraPaths": [str(PACKAGE)], "typeCheckingMode": "standard", "strict": [one for one in names if one != "notebook.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    result = subprocess.run([sys.executable, "-m", *checker, *names], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                            env=environment)
    told = [line for line in result.stdout.splitlines() if re.search(r"\berror:", line)]
    assert told and all("wrong.py:" in line or "misspelt.py:" in line for line in told), result.stdout + result.stderr
    assert "residual_treu" in result.stdout
    assert all(any(f"misspelt.py:{line}" in one and word in one for one in told) for line, word in ((2, "slopy"), (3, "precision"))), result.stdout


def test_keywords_of_options_are_typed_as_the_table_has_them():
    """A new option: run tests/typed_options.py."""
    assert written() == text_of(_native.options())
    classes = re.findall(r"^class (\w+)", (PACKAGE / "staghorn" / "_native.pyi").read_text(), re.MULTILINE)
    assert len(classes) == len(set(classes)), classes
