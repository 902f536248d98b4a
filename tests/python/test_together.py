"""An argument that is wrong on one rank alone is an error of all, at once, and the next call works: the program says of what."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_processes import needs_mpi4py, python

PROGRAM = Path(__file__).parent / "rank_arguments.py"
# What the culprit raises itself, where it is no error of Staghorn.
OWN = {"option": "TypeError", "keyword": "TypeError", "interrupt": "KeyboardInterrupt"}
ALIKE = {"all", "intercommunicator", "null", "type of a transport", "words"}  # the same on all ranks
OF_LIBRARY = {"shared memory", "file", "device"}  # found by the library, on all ranks together


@needs_mpi4py
@pytest.mark.mpi
@pytest.mark.parametrize("culprit", [0, 1])
def test_what_one_rank_refuses_all_refuse(small_gauge, tmp_path, culprit):
    lines = [line.split(" | ") for line in python(PROGRAM, small_gauge, tmp_path, culprit, ranks=2, timeout=250).splitlines()]
    assert len(lines) > 36 and not [line for line in lines if len(line) != 3], lines
    for name, *texts in lines:
        assert "nothing was raised" not in texts, (name, texts)
        own, other = texts[culprit], texts[1 - culprit]
        if name in ALIKE or name in OF_LIBRARY:
            assert own == other and "rank" not in own.split(":")[0], (name, texts)
            continue
        assert own.startswith(OWN.get(name, "")), (name, texts)
        kind, text = own.split(" ", 1) if " " in own else (own, "")
        told = f"{kind}: {text}" if name in OWN else text
        assert other.split(" ", 1)[1].strip() == f"rank {culprit}: {told}".strip(), (name, texts)
    named = {name: texts[0] for name, *texts in lines}
    assert "two" in named["intercommunicator"] and named["intercommunicator"].startswith("ArgumentError comm: expected one group of ranks")
    assert named["null"] == "ArgumentError comm: expected a group of ranks, found COMM_NULL"
    assert "out[0]" in named["shared memory"] or "dx[0]" in named["shared memory"]
