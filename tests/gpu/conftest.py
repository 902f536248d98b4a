"""Many solves in one process: with a GPU a process takes far longer to start than a small lattice to be solved."""

from __future__ import annotations

import hashlib
import json
import re
from typing import NamedTuple

import pytest
from gpus import transport_obstacle
from solve_files import solution_bytes


class Solves(NamedTuple):
    answers: dict[object, str]  # of each request a hash of what no device, cut or transport may change (answer_of)
    reports: list[dict]
    statuses: set[int]  # exit statuses


def answer_of(bits: bytes, report: dict) -> str:
    """A hash of a solution's bytes, and of every right-hand side's history."""
    histories = [(rhs["history"], rhs["iterations"], rhs.get("updates")) for rhs in report["rhs"]]
    return hashlib.sha256(bits + repr(histories).encode()).hexdigest()


@pytest.fixture(scope="session")
def gauge_to_cut(staghorn, tmp_path_factory):
    """A hot configuration of 8x4x12x16: up to sixteen ranks divide it."""
    path = tmp_path_factory.mktemp("gauge") / "hot_8x4x12x16.h5"
    staghorn("generate", "--lattice", 8, 4, 12, 16, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


@pytest.fixture(scope="session")
def solve_many(run_built, tmp_path_factory):
    """solve_many(gauge, requests, *options, ranks=1, env=None, under=()) -> Solves, of requests {name: options}.

    All are solved one after the other in the same processes (gpu/many_solves.cpp). What CPUs answer is remembered for the
    session. Skips where nccl or cuda-aware is asked for and cannot be used: they need libraries.
    """
    known = {}

    def run(gauge, requests, options, ranks, env, under=()):
        folder = tmp_path_factory.mktemp("many")
        lines = []
        for i, request in enumerate(requests.values()):
            words = ["--gauge", gauge, "--output", folder / f"{i}.h5", "--report", folder / f"{i}.json", "--quiet", *request, *options]
            lines.append("\t".join(map(str, words)) + "\n")
        (folder / "requests").write_text("".join(lines))
        result = run_built("many_solves", folder / "requests", ranks=ranks, env=env, under=under, timeout=600)
        obstacle = transport_obstacle(result.stderr)
        if any(name in obstacle for name in ("nccl", "cuda-aware")):
            pytest.skip(obstacle)
        assert result.returncode == 0, f"{' '.join(result.args)}\n{result.stdout}\n{result.stderr}"
        reports = [json.loads((folder / f"{i}.json").read_text()) for i in range(len(requests))]
        answers = {name: answer_of(solution_bytes(folder / f"{i}.h5"), reports[i]) for i, name in enumerate(requests)}
        statuses = re.findall(r"^exit status (\d+)$", result.stdout, re.MULTILINE)
        assert len(statuses) == len(requests)
        return Solves(answers, reports, set(map(int, statuses)))

    def remember(gauge, requests, *options, ranks=1, env=None, under=()):
        if "cpu" not in options:
            return run(gauge, requests, options, ranks, env, under)
        key = repr((gauge, requests, options, ranks, env))
        if key not in known:
            known[key] = run(gauge, requests, options, ranks, env)
        return known[key]

    return remember
