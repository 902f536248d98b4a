"""Many configurations from Python: the program's request and report, arrays for analysis, and the example of the page."""

from __future__ import annotations

import json
import runpy
import sys

import numpy as np
import pytest
from program_under_test import ROOT

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

import staghorn  # noqa: E402
from staghorn.analysis import jackknife  # noqa: E402

ASKED = {"masses": [0.2, 0.5], "sources": ["corner-wall:0", "z2:{n}"], "noise_vectors": 2}


@pytest.fixture(scope="module")
def links(staghorn, tmp_path_factory):
    """Three configurations of 4x4x4x8, q_0004.h5, q_0008.h5 and q_0012.h5."""
    folder = tmp_path_factory.mktemp("links")
    staghorn("generate", "--lattice", "4x4x4x8", "--beta", 5.7, "--sweeps", 12, "--save-every", 4, "--save-as", "q_{n:04}.h5", "--quiet",
             cwd=folder, check=True)
    return folder


@pytest.fixture
def at_links(links, monkeypatch):
    monkeypatch.chdir(links)
    return links


def test_python_and_the_program_go_on_from_each_other(request, at_links, tmp_path):
    done = staghorn.campaign("q_*.h5", **ASKED, output=tmp_path / "x_{gauge}.h5", report=tmp_path / "r.json")
    assert done["outcome"] == "certified" and "3 configurations, 3 certified" in str(done)
    assert (done.masses, done.sources) == (ASKED["masses"], ASKED["sources"])
    program = request.getfixturevalue("staghorn")
    program("solve", "--gauge", "q_*.h5", "--masses", "0.2,0.5", "--sources", "corner-wall:0;z2:{n}", "--noise-vectors", 2,
            "--output", tmp_path / "x_{gauge}.h5", "--report", tmp_path / "r.json", check=True)
    again = staghorn.Campaign.read(tmp_path / "r.json")
    assert again["campaign"]["skipped"] == 3 and again["configurations"][0]["report"] == done["configurations"][0]["report"]
    # The arrays are those of solves alone; the seed of the noise is the configuration's number.
    session = staghorn.Session("q_0008.h5")
    _, wall = session.solve(None, "corner-wall:0", masses=ASKED["masses"], batch=3)
    _, noise = session.solve(None, "z2:8", masses=ASKED["masses"], noise_vectors=2, batch=3)
    assert done.correlators(0.5, "corner-wall:0").shape == (3, 8) and done.condensates(0.5, "z2:{n}").shape == (3, 2)
    assert done.correlators(0.5, "corner-wall:0")[1].tolist() == wall["sources"][1]["pion_correlator"]
    assert done.condensates(0.5, "z2:{n}")[1].tolist() == noise["sources"][1]["condensate"]["values"]


def test_a_failure_is_a_result_and_bad_input_an_error(at_links, tmp_path):
    damaged = bytearray((at_links / "q_0004.h5").read_bytes())
    damaged[9000] ^= 1
    (tmp_path / "bad.h5").write_bytes(damaged)
    done = staghorn.campaign([tmp_path / "bad.h5", "q_0008.h5"], 0.5, "z2:1", noise_vectors=2)
    assert done["outcome"] == "failed" and [name[-9:] for name in done.gauges] == ["q_0008.h5"]
    assert "suma" in done["configurations"][0]["error"]
    assert np.isfinite(jackknife(done.condensates(0.5, "z2:1")[0]).error)
    with pytest.raises(staghorn.Error, match="mass: expected one of 0.5, found 0.7"):
        done.condensates(0.7, "z2:1")
    with pytest.raises(staghorn.Error, match="source: .*pion correlator"):
        done.correlators(0.5, "z2:1")
    with pytest.raises(staghorn.Error, match="mass: expected a number, or None with `masses`, found mass and masses"):
        staghorn.campaign("q_*.h5", 0.1, "z2:1", masses=[0.1])
    with pytest.raises(TypeError, match="Did you mean 'tolerance'"):
        staghorn.campaign("q_*.h5", 0.1, "z2:1", tolerances=1e-8)
    with pytest.raises(staghorn.Error, match="p_"):
        staghorn.campaign("p_*.h5", 0.1, "z2:1")


def test_the_example_of_the_page_runs(at_links, monkeypatch, capsys):
    """docs/campaigns/pions.py, on small lattices; and it has no more than 20 lines of code."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    example = ROOT / "docs" / "campaigns" / "pions.py"
    code = [line for line in example.read_text().split('"""')[2].splitlines() if line.strip()]
    assert len(code) <= 20
    monkeypatch.setattr(sys, "argv", [str(example), "q_*.h5", "1", "3"])
    runpy.run_path(str(example), run_name="__main__")
    out = capsys.readouterr().out
    assert out.count("pion ") == 3 and "+-" in out and (at_links / "pions.pdf").read_bytes().startswith(b"%PDF")
    assert len(json.loads((at_links / "pions.json").read_text())["configurations"]) == 3


def test_the_example_of_all_local_mesons_runs(at_links, monkeypatch, capsys):
    """docs/campaigns/tastes.py: gauge fixing, HISQ, three masses, mesons, kaons and a figure, in at most 20 lines of code."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    example = ROOT / "docs" / "campaigns" / "tastes.py"
    code = [line for line in example.read_text().split('"""')[2].splitlines() if line.strip()]
    assert len(code) <= 20
    monkeypatch.setattr(sys, "argv", [str(example), "0", "4", *sorted(path.name for path in at_links.glob("q_*.h5"))])
    found = runpy.run_path(str(example), run_name="__main__")
    out = capsys.readouterr().out
    assert "3 configurations, 3 certified" in out and out.count("samples, t = 0 to 4") == 14 and "kaon: 0" in out
    svg = (at_links / "tastes.svg").read_text()
    assert all(label in svg for label in ("pion, taste 5t", "rho, taste zt", "kaon"))
    done = found["done"]
    assert done.mesons("G5-G5", (0.05, 0.2)).shape == (3, 8)
    np.testing.assert_allclose(done.mesons("G5-G5", (0.1, 0.1)).real, done.correlators(0.1, "corner-wall:0"), rtol=1e-12)
    np.testing.assert_array_equal(staghorn.Campaign.read("tastes.json").mesons("GX-GX", (0.1, 0.2)), done.mesons("GX-GX", (0.1, 0.2)))
    with pytest.raises(staghorn.Error, match="Did you mean 'G5-G5'"):
        done.mesons("G5_G5", (0.1, 0.1))


def test_mesons_of_several_sources_and_directions_are_averaged_from_their_sources(at_links):
    walls, names = ["corner-wall:1", "corner-wall:6"], ["GX-GX", "GY-GY"]
    done = staghorn.campaign("q_*.h5", None, None, masses=[0.5], sources=";".join([*walls, "point:0,0,0,2"]), mesons=",".join(names),
                             tolerance=1e-8)
    mean = done.averaged_mesons(names, (0.5, 0.5), walls)
    each = {(name, wall): done.mesons(name, (0.5, 0.5), wall) for name in names for wall in walls}
    expected = sum(np.roll(c, -int(wall[-1]), axis=1) for (_, wall), c in each.items()) / 4
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
    assert mean.shape == (3, 8) and not np.allclose(mean, each["GX-GX", walls[0]])
    with_point = done.averaged_mesons(["GX-GX"], (0.5, 0.5))
    np.testing.assert_allclose(with_point, (np.roll(each["GX-GX", walls[0]], -1, axis=1) + np.roll(each["GX-GX", walls[1]], -6, axis=1)
                                            + np.roll(done.mesons("GX-GX", (0.5, 0.5), "point:0,0,0,2"), -2, axis=1)) / 3, rtol=1e-12)
    with pytest.raises(staghorn.Error, match="one of each"):
        done.averaged_mesons([], (0.5, 0.5))


def test_a_campaign_is_short_to_print_and_its_reports_merge(at_links):
    asked = {"source": "wall:0", "report": "r_{n}.json", "mass": 0.5}
    done = staghorn.campaign("q_*.h5", **asked)
    assert repr(done) == "<staghorn.Campaign of 3 configurations: 3 certified; masses 0.5; sources wall:0>"
    merged = staghorn.Campaign.merge(["r_4.json", "r_8.json", "r_12.json"], report="all.json", results="all.h5")
    assert "3 configurations, 3 certified" in str(merged) and len(str(merged)) < 5000
    assert str(staghorn.Campaign.read("all.json")) == str(merged)
    np.testing.assert_array_equal(merged.correlators(0.5, "wall:0"), done.correlators(0.5, "wall:0"))
    with pytest.raises(staghorn.Error, match="all.json exists already"):
        staghorn.Campaign.merge(["r_4.json"], report="all.json")


def test_progress_is_told_of_every_configuration(at_links):
    seen: list[staghorn.CampaignPart] = []
    staghorn.campaign("q_*.h5", 0.05, "z2:1", noise_vectors=2, batch=1, progress=seen.append)
    starts = [part for part in seen if part.iteration == 0 and not part.words]
    ends = [part for part in seen if part.words]
    assert [part.number for part in starts] == [part.number for part in ends] == [1, 2, 3] and all(part.of == 3 for part in seen)
    assert [part.gauge for part in ends] == ["q_0004.h5", "q_0008.h5", "q_0012.h5"] and all("certified" in part.words for part in ends)
    first = [part for part in seen if part.number == 1 and part.iteration]
    assert first[0].iteration == 16 and first[0].residual_over_tolerance > first[1].residual_over_tolerance > 1

    def fails(part: staghorn.CampaignPart) -> None:
        if part.number == 2:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        staghorn.campaign("q_*.h5", 0.5, "z2:1", progress=fails)
