"""Mesons and baryons of lat.sample.l8888 agree with those of MILC: all operators, momenta and symmetries at sink and source, currents with links,
pairs of masses, walls, HISQ and asqtad."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from solve_files import solve

pytestmark = pytest.mark.reference

SOURCES = {"point": "point:0,0,0,0", "corner_wall": "corner-wall:0", "evenandodd_wall": "wall:0"}
ACTIONS = {"hisq": ("lat.sample.l8888", ()), "asqtad": ("lat.sample.l8888.reunit.double.scidac", ("--u0", 0.8696))}
# What MILC calls these operators at the source, in words of the program.
OPERATORS = {"funnywall1": "pion5+pioni+rhoz", "funnywall2": "pion05+pioni0+rhoz0", "momentum 1 0 0": "p100"}


@pytest.fixture(scope="module")
def of_milc(reference_data):
    """All mesons, currents and baryons, by action; and the norms of their slices."""
    path = reference_data / "mesons_l8888.json.gz"
    if not path.is_file():
        pytest.skip("reference data: mesons_l8888.json.gz is absent")
    everything = json.loads(gzip.decompress(path.read_bytes()))
    return {kind: {action: [m for m in everything[kind] if m["action"] == action] for action in ACTIONS} for kind in ("mesons", "baryons")}, everything["norms"]


def source_of(quark: dict) -> str:
    operator = quark.get("operator")
    return SOURCES[quark["type"]] + ("" if operator is None else "@" + OPERATORS.get(operator, operator.removeprefix("spin_taste ")))


def sources_of(meson: dict) -> tuple[str, str]:
    return source_of(meson["source_antiquark"]), source_of(meson["source_quark"])


def sink_of(meson: dict) -> str:
    """An operator on the antiquark after the solve, before pion5, is the sink operator itself."""
    operator = meson.get("operator_on_antiquark")
    assert operator is None or meson["sink"] == "pion5"
    return meson["sink"] if operator is None else operator.removeprefix("spin_taste ")


def word_of(meson: dict) -> str:
    return f"{sink_of(meson)}:p{''.join(map(str, meson['momentum']))}:{meson['symmetry'].replace(' ', '.')}"


def key_of(meson: dict, name: str, sources: tuple[str, str]) -> tuple:
    return name, tuple(meson["momentum"]), meson["symmetry"], tuple(meson["masses"]), *sources


@pytest.mark.parametrize("action", ACTIONS)
def test_mesons_are_those_of_milc(staghorn, reference_data, tmp_path, of_milc, action):
    everything, norms = of_milc
    mesons, baryons = everything["mesons"], everything["baryons"][action]
    file, options = ACTIONS[action]
    # Three jobs, since all mesons of a job are measured for all its pairs: no operators at the source, operators on walls, and on points.
    jobs: dict[str, list[dict]] = {}
    for meson in mesons[action]:
        operators = [meson[name].get("operator") for name in ("source_antiquark", "source_quark")]
        jobs.setdefault("plain" if operators == [None, None] else meson["source_quark"]["type"], []).append(meson)
    off = []
    for number, (job, group) in enumerate(jobs.items()):
        pairs = list(dict.fromkeys(map(sources_of, group)))
        sources = list(dict.fromkeys(source for pair in pairs for source in pair))
        words = list(dict.fromkeys(map(word_of, group)))
        numbers = ",".join(f"{sources.index(a)}:{sources.index(b)}" for a, b in pairs)
        folder = tmp_path / str(number)
        folder.mkdir()
        report, _ = solve(staghorn, folder, reference_data / file, "--action", action, *options, "--masses", "0.05,0.01", "--tolerance", 1e-13,
                          "--sources", ";".join(sources), "--pairs", numbers, "--mesons", ",".join(words), *(("--baryons", "nucleon,delta") if job == "plain" else ()))
        assert len(report["mesons"]) == len(words) * len(pairs) * 4
        found = {key_of(m, m["name"], (m["source"], m["quark_source"])): np.array(m["values"]) @ [1, 1j] for m in report["mesons"]}
        off += [np.max(abs(found[key_of(m, sink_of(m), sources_of(m))] - np.array(m["re"]) - 1j * np.array(m["im"])) / norms[m["pair"]])
                for m in group]
        if job == "plain":
            assert {b["source"] for b in report["baryons"]} == set(SOURCES.values()) and len(report["baryons"]) == 3 * (8 + 2)
            made = {(b["name"], b["source"], tuple(b["masses"])): np.array(b["values"]) @ [1, 1j] for b in report["baryons"]}
            assert len(baryons) == 21
            for b in baryons:
                expected = np.array(b["re"]) + 1j * np.array(b["im"])
                found_here = made[b["baryon"], SOURCES[b["source"]], tuple(b["masses"])]
                assert np.max(abs(found_here - expected)) <= 1e-10 * np.max(abs(expected)), b
    assert len(off) == 1618 and {m.get("shifts") for m in mesons[action]} == {0, 1, 2, 3, 4, None}
    assert max(off) <= 1e-10
