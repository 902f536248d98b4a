"""What a solve takes on a GPU is predicted to the byte, and what does not fit there is refused before it is allocated."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.gpu

CHOICES = {
    "fp64": [],
    "fp32, 12 reals": ["--precision", "fp32", "--links", 12],
    "mixed": ["--sloppy", "fp32"],
    "one parity": ["--system", "even"],
}


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "hot.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


@pytest.mark.parametrize("choice", CHOICES)
def test_prediction_is_exact(staghorn, tmp_path, gauge, choice):
    staghorn("solve", "--gauge", gauge, "--mass", 0.5, "--device", "cuda", "--source", "gaussian:1", "--noise-vectors", 3,
             "--report", tmp_path / "r.json", *CHOICES[choice], check=True)
    report = json.loads((tmp_path / "r.json").read_text())
    predicted = report["predicted_memory_bytes"]
    assert {name: report["memory_bytes"][name] for name in predicted} == predicted


def test_what_does_not_fit_is_refused_and_what_is_said_to_fit_does(staghorn, gauge):
    """18 reals: links 1.14 MB, vectors 0.29 MB for each right-hand side. More GPUs would not help: what they exchange
    takes pages of 2 MB."""
    options = ("solve", "--gauge", gauge, "--mass", 0.5, "--device", "cuda", "--source", "gaussian:1")
    limit = {"STAGHORN_GPU_MEMORY": "1.68e6"}
    result = staghorn(*options, "--noise-vectors", 3, env=limit)
    assert result.returncode == 1
    for words in ("GPU memory", "links 1.1 MB", "1.7 MB are there", "1 right-hand side at a time", "--links 12"):
        assert words in result.stderr
    assert staghorn(*options, "--noise-vectors", 1, env=limit).returncode == 0
    assert staghorn(*options, "--noise-vectors", 3, "--links", 12, env=limit).returncode == 0
