"""Reports of every kind, each made once."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest



@pytest.fixture(scope="session")
def made(staghorn, small_gauge, tmp_path_factory) -> SimpleNamespace:
    """made.folder, and made.reports: name -> what the program wrote, as a dict."""
    folder = tmp_path_factory.mktemp("reports")
    pairs = folder / "pairs.h5"
    solves = {
        "point": ["--mass", 0.5],
        "noise": ["--mass", 0.5, "--source", "z2:1", "--noise-vectors", 2, "--sloppy", "fp32", "--tolerance-hq", 1e-4,
                  "--checkpoint", folder / "state.h5", "--recover"],
        "masses": ["--masses", "0.5,0.7", "--mesons", "pion5,rhox:p100", "--baryons", "delta"],
        "epsilons": ["--masses", "0.5,0.7:-0.1", "--action", "hisq"],
        "sources": ["--mass", 0.5, "--sources", "z2:1; point:0,0,0,0"],
        "deflated": ["--mass", 0.5, "--eigenvectors", pairs, "--source", "z2:3"],
        "blocks": ["--mass", 0.5, "--coarse", folder / "vectors.h5", "--source", "z2:3"],
        "block": ["--mass", 0.5, "--solver", "block", "--action", "asqtad", "--u0", 0.9],
        "short": ["--mass", 0.05, "--color", 0, "--max-iterations", 3],
        "ranks": ["--mass", 0.5, "--color", 0, "--system", "even", "--links", 12],
        "campaign": ["--gauge", f"{small_gauge}; {folder / 'no-links.h5'}", "--mass", 0.5, "--color", 0],
    }
    kinds = {name: "solve" for name in solves} | {"campaign": "campaign"} | {"eigen": "eigen", "coarse": "coarse", "certify": "certify", "convention": "certify", "flow": "smooth", "landau": "smooth", "hop": "bench", "exchange": "bench", "scaling": "bench"}
    staghorn("eigen", "--gauge", small_gauge, "--pairs", 3, "--output", pairs, "--report", folder / "eigen.json",
             "--checkpoint", folder / "search.h5", check=True)
    staghorn("coarse", "--gauge", small_gauge, "--vectors", 2, "--iterations", 5, "--output", folder / "vectors.h5", "--report",
             folder / "coarse.json", check=True)
    (folder / "no-links.h5").write_text("This is no gauge configuration.")
    for name, options in solves.items():
        gauge = [] if "--gauge" in options else ["--gauge", small_gauge]
        result = staghorn("solve", *gauge, *options, "--report", folder / f"{name}.json", ranks=2 if name == "ranks" else 1)
        assert result.returncode == {"short": 3, "campaign": 1}.get(name, 0), result.stderr
    staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--output", folder / "x.h5", check=True)
    for name, mass, status in (("certify", 0.5, 0), ("convention", 1, 3)):
        result = staghorn("certify", "--gauge", small_gauge, "--mass", mass, "--color", 0, "--solution", folder / "x.h5", "--report",
                          folder / f"{name}.json")
        assert result.returncode == status, result.stderr
    for name, options in (("flow", ["--method", "wilson", "--time", 0.04, "--loops", "1x2"]), ("landau", ["--method", "landau", "--tolerance", 1])):
        staghorn("smooth", "--gauge", small_gauge, *options, "--report", folder / f"{name}.json", check=True)
    for name in ("hop", "exchange", "scaling"):
        staghorn("bench", name, "--lattice", 4, 4, 4, 8, "--seconds", 0.01, "--stream-mib", 32, "--precision", "fp64", "--json", folder / f"{name}.json",
                 ranks=2 if name == "exchange" else 1, check=True)
    return SimpleNamespace(folder=folder, kinds=kinds, reports={name: read(folder / f"{name}.json") for name in kinds})


def read(path: Path) -> dict:
    return json.loads(path.read_text())
