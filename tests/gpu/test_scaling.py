"""`staghorn bench scaling` on GPUs: beside each time stand its transport and the floor of an iteration."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.gpu


def test_floor_and_transport_stand_beside_each_time(staghorn, tmp_path):
    path = tmp_path / "scaling.json"
    staghorn("bench", "scaling", "--lattice", 16, 16, 16, 32, "--local", 16, 16, 16, 16, "--seconds", 0.1, "--precision",
             "fp64", "--links", "18", "--device", "cuda", "--json", path, ranks=2, check=True)
    found = json.loads(path.read_text())
    assert [(r["series"], r["ranks"]) for r in found["results"]] == [(s, n) for s in ("strong", "weak") for n in (1, 2)]
    for row in found["results"]:
        assert row["floor_microseconds"] > 0 and row["microseconds"] > 0
        assert (row["transport"] == "none") == (row["ranks"] == 1)
