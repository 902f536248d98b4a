"""No test compares times: it would fail when something else runs on the machine. `./dev measure --compare` does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name.startswith("test_") or path.name == "conftest.py")
# What reports and JSON call times, and what follows from them.
TIME = re.compile(r"(^|_)(seconds|microseconds|us|ms|elapsed|slowest|hop_wait|hidden_share|fraction_of_stream|efficiency|gflops|gb_s)$")
CLOCKS = {"monotonic", "perf_counter", "process_time", "time", "time_ns", "monotonic_ns", "perf_counter_ns", "thread_time", "getrusage"}
# Times that no clock has measured, and what holds whatever the times are.
FORESEEN = {
    "cli/test_plan.py": "foreseen by a model of a machine",
    "cli/test_improved_options.py::test_plan_and_bench_know_improved_quarks": "foreseen by a model of a machine",
    "mpi/test_measured_shares.py::test_a_slowed_rank_gets_less_and_no_bit_changes": "times that the test gives",
    "mpi/test_measured_shares.py::test_a_rank_that_only_loses_is_left_out": "times that the test gives",
    "mpi/test_times.py::by_phase": "a mean and the largest of the same numbers, and shares",
    "gpu/test_times.py::test_phases_are_measured_where_faces_pass_through_the_host": "a share",
    "cli/test_bench.py::test_every_measurement_has_all_its_rows": "bytes: a rate times its time",
}
LEAST_TIMEOUT = 180  # seconds; what waits for a process guards against hanging only
# Programs that show times, and one check that work takes no less than what was asked for.
SHOW_TIMES = {"device_host.c", "milc_overhead.c", "device_links.cpp", "share_checks.cpp"}


def words(node: ast.AST) -> set[str]:
    """All names, attributes and texts of an expression."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    found |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return found | {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def is_harmless(node: ast.AST) -> bool:
    """Zero, or the names that a report has."""
    return isinstance(node, ast.Set) or isinstance(node, ast.Constant) and node.value == 0


def compared_times(node: ast.Compare) -> bool:
    """Whether times are ordered, and not only said to be above zero."""
    terms = [node.left, *node.comparators]
    for left, operator, right in zip(terms, node.ops, node.comparators):
        if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and not is_harmless(left) and not is_harmless(right):
            if any(TIME.search(word) for word in words(left) | words(right)):
                return True
    return False


def found_in(path: Path) -> list[str]:
    name, found = path.relative_to(TESTS).as_posix(), []

    def look(node: ast.AST, function: str):
        for part in ast.iter_child_nodes(node):
            inside = part.name if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and not function else function
            where = f"{name}::{inside}, line {getattr(part, 'lineno', 0)}"
            if isinstance(part, ast.Compare) and compared_times(part) and not {name, f"{name}::{inside}"} & FORESEEN.keys():
                found.append(f"{where}: compares times")
            if isinstance(part, ast.Attribute) and part.attr in CLOCKS and isinstance(part.value, ast.Name) and part.value.id in ("time", "resource"):
                found.append(f"{where}: reads a clock")
            if isinstance(part, ast.ImportFrom) and part.module in ("time", "timeit") and {alias.name for alias in part.names} - {"sleep"}:
                found.append(f"{where}: reads a clock")
            if isinstance(part, ast.keyword) and part.arg == "timeout" and isinstance(part.value, ast.Constant) and part.value.value < LEAST_TIMEOUT:
                found.append(f"{where}: a timeout of {part.value.value} s")
            look(part, inside)

    look(ast.parse(path.read_text()), "")
    return found


def test_no_test_compares_times():
    assert len(FILES) > 100
    assert not [line for path in FILES for line in found_in(path)]


def test_what_is_foreseen_is_there():
    """Names of tests that are gone do not stay among the exceptions."""
    assert not [name for name in FORESEEN if (parts := name.split("::")) and not (
        (TESTS / parts[0]).is_file() and f"def {parts[-1]}(" in (TESTS / parts[0]).read_text() if len(parts) > 1 else (TESTS / parts[0]).is_file())]


def test_this_test_sees_times_that_are_compared(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "TESTS", tmp_path)
    (tmp_path / "test_times.py").write_text("""
import time
def test_it(report):
    before = time.monotonic()
    assert report["seconds"]["solve"] < 2 * report.one
    assert 0 < report["microseconds"]
    assert found.us == 2 * found.bytes
    job.communicate(timeout=5)
""")
    seen = [line.split(": ")[-1] for line in found_in(tmp_path / "test_times.py")]
    assert seen == ["reads a clock", "compares times", "a timeout of 5 s"]


def test_programs_of_the_tests_read_no_clock_but_to_show_times():
    reading = {path.name for suffix in ("c", "cpp", "h", "hpp") for path in TESTS.rglob(f"*.{suffix}")
               if re.search(r"clock_gettime|gettimeofday|MPI_Wtime|_clock::now|\bStopwatch\b", path.read_text())}
    assert reading <= SHOW_TIMES
    assert "alone:" not in (TESTS.parent / "pyproject.toml").read_text()
