"""Every block of code in the documents is run by a test, or there is a reason why not. Commands without a test of their own run here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program_under_test import PROGRAM, ROOT, built_with_mpi

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "python/README.md",
         *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "decisions" not in path.parts)]

# (page, how the block begins) -> the test that runs it, or compares it with what runs.
RUN_ELSEWHERE = {
    ("README.md", "export PATH"): "tests/cli/test_readme.py::test_commands_of_the_program_run_and_print_what_is_shown",
    ("README.md", "gauge      configs/"): "tests/cli/test_readme.py::test_commands_of_the_program_run_and_print_what_is_shown",
    ("README.md", "./dev demo"): "tests/cli/test_readme.py::test_commands_of_dev_are_those_that_it_offers",
    ("README.md", "import staghorn"): "tests/cli/test_readme.py::test_python_program_runs",
    ("README.md", "cmake --preset release"): "tests/cli/test_readme.py::test_commands_of_cmake_name_presets_and_options_that_exist",
    ("README.md", "halo  <-  dirac"): "tests/structure/test_folder_arrows.py::test_folder_includes_only_itself_and_those_before_it",
    ("docs/development/architecture.md", "halo  <-  dirac"): "tests/structure/test_folder_arrows.py::test_folder_includes_only_itself_and_those_before_it",
    ("docs/certify.md", ""): "tests/property/test_certify.py::test_examples_of_the_page_print_what_is_shown",
    ("docs/campaigns/README.md", "staghorn generate"): "tests/python/test_campaign.py::test_the_example_of_the_page_runs",
    ("docs/files.md", "import staghorn"): "tests/python/test_files.py::test_code_of_the_page_of_files_runs",
    ("docs/guide/", ""): "tests/structure/test_guide.py::test_commands_of_the_guide_run",
    ("docs/guide/install.md", "cmake --preset release"): "tests/cli/test_readme.py::test_commands_of_cmake_name_presets_and_options_that_exist",
    ("docs/guide/install.md", "./dev demo"): "tests/cli/test_readme.py::test_commands_of_dev_are_those_that_it_offers",
    ("docs/guide/reading-a-report.md", "python -m jsonschema"): "tests/report/test_schema.py::test_every_report_is_as_the_schema_says",
    ("docs/guide/clusters.md", "note: 2 ranks"): "tests/cli/test_messages_under_mpi.py::test_bindings_that_leave_cores_idle_are_told_of",
    ("docs/interfaces/cps.md", ""): "tests/interface/cps/test_cps.py::test_functions_of_the_page_compile_and_do_what_it_says",
    ("docs/interfaces/library-c.md", ""): "tests/interface/test_installed_interface.py::test_program_of_the_documentation_by_pkg_config",
    ("docs/interfaces/library-fortran.md", ""): "tests/interface/test_installed_interface.py::test_fortran_program_of_the_documentation",
    ("docs/interfaces/library.md", ""): "tests/structure/test_installed_package.py::test_installed_program_runs",
    ("docs/interfaces/milc.md", "STAGHORN=PREFIX"): "tests/interface/milc/test_milc.py::test_hosts_link_the_installed_library_as_the_page_says",
    ("docs/interfaces/python.md", ""): "tests/python/test_documents.py::test_code_of_the_page_runs_in_its_order",
}

# (page, how the block begins) -> why nothing runs it.
NOT_RUN = {
    ("docs/files.md", "staghorn: error"): "a message",
    ("CONTRIBUTING.md", "./dev test"): "it is how this test runs",
    ("docs/performance.md", "./dev measure"): "minutes; tests/cli/test_measure.py measures tiny lattices",
    ("docs/conventions.md", "D a(x) = sum_mu"): "a formula",
    ("docs/improved-quarks.md", "D a(x) = sum_mu"): "a formula",
    ("docs/observables.md", "C(t) = sum_x"): "a formula",
    ("docs/observables.md", "O f = sign"): "a formula",
    ("docs/observables.md", "j1(x) = eta_mu"): "a formula",
    ("docs/observables.md", "sum_mu [J_mu"): "a formula",
    ("docs/observables.md", "nucleon   B(t)"): "formulas",
    ("docs/observables.md", "zeta_mu(x) (1/2)"): "a formula",
    ("docs/smoothing.md", "U_mu"): "a formula",
    ("docs/smoothing.md", "dU/dt"): "a formula",
    ("docs/smoothing.md", "F = "): "a formula",
    ("docs/planning.md", "bytes / stream"): "a formula",
    ("docs/planning.md", "max(file"): "a formula",
    ("docs/campaigns/README.md", "mpirun -n 8"): "eight ranks; tests/mpi/test_groups_of_ranks.py has four",
    ("docs/many-sources.md", "mpirun -n 8"): "eight ranks; tests/mpi/test_groups_of_ranks.py has four",
    ("docs/deflation.md", "value = Re"): "a formula",
    ("docs/deflation.md", "pion_correlator(t) = C(t)"): "a formula",
    ("docs/development/architecture.md", "command line, .ini file"): "a drawing",
    ("python/README.md", "Session:  NumPy array"): "a drawing",
    ("docs/development/how-to-add-a-solver.md", ""): "a change of the program's source; tests/structure/test_new_parts.py makes it",
    ("docs/development/how-to-add-a-transport.md", ""): "a change of the program's source",
    ("docs/development/how-to-add-an-operator.md", "./dev test"): "it is how such tests run",
    ("docs/development/how-to-add-an-observable.md", ""): "a change of the program's source; tests/structure/test_new_parts.py makes one",
    ("docs/development/how-to-add-an-option.md", ""): "a change of the program's source",
}


def blocks_of(page: Path) -> list[str]:
    """Blocks between fences, and blocks that are indented by four."""
    text = page.read_text()
    found = [(match.start(), match[2]) for match in re.finditer(r"^ *```(\w*)\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)]
    prose = re.sub(r"^ *```.*?^ *```", lambda fenced: re.sub(r"[^\n]", " ", fenced[0]), text, flags=re.DOTALL | re.MULTILINE)
    indented = re.finditer(r"(?<=\n\n)((?:    \S.*\n|    +\S.*\n)(?:    .*\n)*)", prose)
    found += [(match.start(), re.sub(r"^    ", "", match[1], flags=re.MULTILINE)) for match in indented if match[1].strip()]
    return [block for _, block in sorted(found)]


BLOCKS = [(str(page.relative_to(ROOT)), block) for page in PAGES for block in blocks_of(page)]


def entry(table: dict, page: str, block: str) -> tuple | None:
    """The key of the table that fits best."""
    fitting = [key for key in table if page.startswith(key[0]) and block.lstrip().startswith(key[1])]
    return max(fitting, key=lambda key: (len(key[0]), len(key[1])), default=None)


HERE = [(page, block) for page, block in BLOCKS if not entry(RUN_ELSEWHERE, page, block) and not entry(NOT_RUN, page, block)]


def test_blocks_are_found_and_tables_hold_nothing_else():
    assert len(BLOCKS) > 50 and len({page for page, _ in BLOCKS}) > 20
    for table in (RUN_ELSEWHERE, NOT_RUN):
        used = {entry(table, page, block) for page, block in BLOCKS}
        assert not [key for key in table if key not in used]


def test_tests_that_run_blocks_exist():
    for place in RUN_ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert re.search(rf"^def {name}", (ROOT / path).read_text(), re.MULTILINE), place


def test_blocks_that_run_here_are_commands_or_python():
    words = ("staghorn ", "import staghorn", "session = ", "from mpi4py")
    assert not [f"{page}: {block.splitlines()[0]}" for page, block in HERE if not block.startswith(words)]


@pytest.fixture(scope="module")
def files(staghorn, tmp_path_factory) -> Path:
    """A folder with the files that the pages name, on a lattice of 4x4x4x12."""
    folder = tmp_path_factory.mktemp("snippets")
    staghorn("generate", "--lattice", 4, 4, 4, 12, "--beta", 8, "--sweeps", 6, "--save-every", 3, "--save-as", "q_{n:04}.h5", "--quiet",
             cwd=folder, check=True)
    (folder / "configs").symlink_to(ROOT / "configs")
    for name in ("F", "FILE", "lat.sample"):
        (folder / name).symlink_to("q_0006.h5")
    staghorn("convert", "q_0006.h5", "l8888.milc", "--format", "milc", "--precision", "fp32", cwd=folder, check=True)
    staghorn("solve", "--gauge", "F", "--mass", 1, "--color", 0, "--output", "b.h5", cwd=folder, check=True)
    staghorn("smear", "--gauge", "l8888.milc", "--action", "hisq", "--fat", "fat.l8", "--long", "long.l8", cwd=folder, check=True)
    (folder / "list.txt").write_text("# noise\nz2:1\npoint:0,0,0,0\n")
    (folder / "rationals.txt").write_text("order_GR 2\nres_GR 1\nres_GR 0.5\nres_GR 0.25\npole_GR 0\npole_GR 0.1\npole_GR 0.9\n")
    return folder


# The programs of one page run one after the other, as a reader would run them; files of the last one are replaced.
STAGHORN = """staghorn() {
  case "$*" in
    plan* | inspect* | *{gauge}.json) command staghorn "$@" ;;  # jobs that share a campaign replace nothing
    *) command staghorn "$@" --force ;;
  esac
}
"""
PAGES_HERE = sorted({page for page, block in HERE if block.startswith("staghorn ")})


@pytest.mark.parametrize("page", PAGES_HERE)
def test_commands_run(page, files):
    commands = "\n".join(block for of, block in HERE if of == page and block.startswith("staghorn "))
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    result = subprocess.run(["bash", "-euc", STAGHORN + commands], cwd=files, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search("CERTIFICATE|certified|machine h200|FIXED", result.stdout)


def test_python_runs(files, monkeypatch):
    pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
    pytest.importorskip("mpi4py")
    if not built_with_mpi():
        pytest.skip("a build without MPI")
    monkeypatch.chdir(files)
    programs = [(page, block) for page, block in HERE if not block.startswith("staghorn ")]
    assert len(programs) == 6
    b = np.zeros((12, 4, 4, 4, 3), complex)
    b[0, 0, 0, 0, 0] = 1
    names: dict = {"b": b}
    for page, block in sorted(programs, key=lambda one: "import staghorn" not in one[1]):
        exec(compile(block, page, "exec"), names)
