"""Mesons of lat.sample.l8888 agree with those of MILC: all operators, momenta and symmetries, pairs of masses, walls, HISQ and asqtad."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from solve_files import solve

pytestmark = pytest.mark.reference

SOURCES = {"point": "point:0,0,0,0", "corner_wall": "corner-wall:0", "evenandodd_wall": "wall:0"}
ACTIONS = {"hisq": ("lat.sample.l8888", ()), "asqtad": ("lat.sample.l8888.reunit.double.scidac", ("--u0", 0.8696))}


@pytest.fixture(scope="module")
def of_milc(reference_data):
    """Mesons without operators at the source, by action; and the norms of their slices."""
    path = reference_data / "mesons_l8888.json.gz"
    if not path.is_file():
        pytest.skip("reference data: mesons_l8888.json.gz is absent")
    everything = json.loads(gzip.decompress(path.read_bytes()))
    plain = [m for m in everything["mesons"] if "spin" in m and not m.get("operator_on_antiquark")
             and m["source_quark"] == m["source_antiquark"] and "operator" not in m["source_quark"]]
    return {action: [m for m in plain if m["action"] == action] for action in ACTIONS}, everything["norms"]


def word_of(meson: dict) -> str:
    return f"{meson['sink']}:p{''.join(map(str, meson['momentum']))}:{meson['symmetry'].replace(' ', '.')}"


def key_of(meson: dict, source: str, name: str) -> tuple:
    return name, tuple(meson["momentum"]), meson["symmetry"], tuple(meson["masses"]), source


@pytest.mark.parametrize("action", ACTIONS)
def test_mesons_are_those_of_milc(staghorn, reference_data, tmp_path, of_milc, action):
    mesons, norms = of_milc
    file, options = ACTIONS[action]
    words = list(dict.fromkeys(word_of(m) for m in mesons[action]))
    report, _ = solve(staghorn, tmp_path, reference_data / file, "--action", action, *options, "--masses", "0.05,0.01", "--tolerance", 1e-13,
                      "--sources", ";".join(SOURCES.values()), "--mesons", ",".join(words))
    assert len(report["mesons"]) == len(words) * len(SOURCES) * 4
    found = {key_of(m, m["source"], m["name"]): np.array(m["values"]) @ [1, 1j] for m in report["mesons"]}
    off = [np.max(abs(found[key_of(m, SOURCES[m["source_quark"]["type"]], m["sink"])] - np.array(m["re"]) - 1j * np.array(m["im"])) / norms[m["pair"]])
           for m in mesons[action]]
    assert len(off) > 900 and {m["shifts"] for m in mesons[action]} == {0, 1, 2, 3, 4}
    assert max(off) <= 1e-10
