"""What a solve takes on a GPU is predicted to the byte, and what does not fit there is refused before it is allocated."""

from __future__ import annotations

import json

import pytest
from solve_files import solution_bytes

pytestmark = pytest.mark.gpu

CHOICES = {
    "fp64": ["--sloppy", "none"],
    "fp32, 12 reals": ["--precision", "fp32", "--links", 12],
    "mixed": ["--sloppy", "fp32"],
    "one parity": ["--sloppy", "none", "--system", "even"],
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
    options = ("solve", "--gauge", gauge, "--mass", 0.5, "--sloppy", "none", "--device", "cuda", "--source", "gaussian:1")
    limit = {"STAGHORN_GPU_MEMORY": "1.68e6"}
    result = staghorn(*options, "--noise-vectors", 3, env=limit)
    assert result.returncode == 1
    for words in ("GPU memory", "links 1.1 MB", "1.7 MB are there", "1 right-hand side at a time", "--links 12"):
        assert words in result.stderr
    assert staghorn(*options, "--noise-vectors", 1, env=limit).returncode == 0
    assert staghorn(*options, "--noise-vectors", 3, "--links", 12, env=limit).returncode == 0


@pytest.fixture(scope="module")
def eigenvectors(staghorn, tmp_path_factory, gauge):
    """storage -> the file of 20 pairs."""
    folder = tmp_path_factory.mktemp("eigenvectors")
    for storage in ("fp64", "fp32", "fp16"):
        staghorn("eigen", "--gauge", gauge, "--pairs", 20, "--device", "cpu", "--tolerance", 1e-8, "--storage", storage,
                 "--output", folder / f"{storage}.h5", check=True)
    return lambda storage: folder / f"{storage}.h5"


DEFLATED = {
    "fp64": ("fp64", ["--system", "full"]),
    "odd": ("fp64", ["--system", "odd"]),
    "odd from 16 bits": ("fp16", ["--system", "odd"]),
    "mixed": ("fp16", ["--system", "even", "--sloppy", "fp16"]),
    "masses": ("fp32", ["--system", "even", "--sloppy", "fp32", "--masses", "0.1,0.3"]),
    "block": ("fp32", ["--system", "even", "--solver", "block"]),
}


@pytest.mark.parametrize("case", DEFLATED)
def test_eigenvectors_on_the_host(staghorn, tmp_path, gauge, eigenvectors, case):
    """The bits are those of eigenvectors on the device, and of a CPU; the device holds none of them."""
    storage, options = DEFLATED[case]

    def solve(name, *more):
        output, report = tmp_path / f"{name}.h5", tmp_path / f"{name}.json"
        mass = () if case == "masses" else ("--mass", 0.1)
        staghorn("solve", "--gauge", gauge, *mass, "--source", "gaussian:1", "--noise-vectors", 3, "--eigenvectors",
                 eigenvectors(storage), "--output", output, "--report", report, *options, *more, check=True)
        return solution_bytes(output), json.loads(report.read_text())

    of_cpu, _ = solve("cpu", "--device", "cpu")
    on_device, there = solve("device", "--device", "cuda", "--eigenvectors-on", "device")
    on_host, report = solve("host", "--device", "cuda", "--eigenvectors-on", "host")
    assert (there["deflation"]["memory"], report["deflation"]["memory"]) == ("device", "pinned")
    assert report["deflation"]["projections"] == there["deflation"]["projections"] > 0
    assert on_host == on_device == of_cpu
    for name in ("eigenvectors", "deflation"):
        assert report["memory_bytes"][name] == there["memory_bytes"][name] > 0
        assert report["predicted_memory_bytes"][name] == report["memory_bytes"][name]


def test_eigenvectors_that_do_not_fit_go_to_the_host(staghorn, tmp_path, gauge, eigenvectors):
    """20 vectors in fp64 take 1.2 MB, all else 2.7 MB."""
    options = ("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda", "--eigenvectors", eigenvectors("fp64"),
               "--report", tmp_path / "r.json", "--force")
    limit = {"STAGHORN_GPU_MEMORY": "3.2e6"}
    staghorn(*options, env=limit, check=True)
    assert json.loads((tmp_path / "r.json").read_text())["deflation"]["memory"] == "pinned"
    staghorn(*options, check=True)
    assert json.loads((tmp_path / "r.json").read_text())["deflation"]["memory"] == "device"
    result = staghorn(*options, "--eigenvectors-on", "device", env=limit)
    assert result.returncode == 1 and "--eigenvectors-on host" in result.stderr
