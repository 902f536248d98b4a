"""One GPU gives the CPU's bits, says that it is used, and refuses what it cannot do."""

from __future__ import annotations

import json

import h5py
import pytest

pytestmark = pytest.mark.gpu

BOUNDARIES = {"antiperiodic": "periodic,periodic,periodic,antiperiodic", "phases": "0.3,antiperiodic,periodic,0.5"}


@pytest.fixture(scope="module")
def gauge(staghorn, tmp_path_factory):
    path = tmp_path_factory.mktemp("gpu") / "hot.h5"
    staghorn("generate", "--lattice", 4, 6, 8, 10, "--sweeps", 0, "--seed", 3, "--output", path, check=True)
    return path


def solve(staghorn, folder, gauge, device, *options, mass=0.1):
    """The bytes of the solution and the report of a solve on `device`."""
    output, report = folder / f"{device}.h5", folder / f"{device}.json"
    staghorn("solve", "--gauge", gauge, "--mass", mass, "--device", device, "--output", output, "--report", report,
             "--force", *options, check=True)
    with h5py.File(output) as file:
        return file["solution"][...].tobytes(), json.loads(report.read_text())


@pytest.fixture(scope="module")
def check(solve_many, gauge):
    """check(n_rhs, requests): every request has the answer of the CPU."""

    def run(n_rhs, requests):
        request = ("--mass", 0.1, "--source", "gaussian:5", "--noise-vectors", n_rhs)
        found = solve_many(gauge, requests, *request, "--device", "cuda")
        assert all(report["device"].startswith("cuda") for report in found.reports)
        assert found.statuses == {0}
        assert found.answers == solve_many(gauge, requests, *request, "--device", "cpu").answers

    return run


@pytest.mark.parametrize("n_rhs", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_gpu_gives_the_bits_of_the_cpu(check, precision, n_rhs):
    check(n_rhs, {(links, boundary): ["--precision", precision, "--links", links, "--boundary", BOUNDARIES[boundary]]
                  for links in (18, 12, 8) for boundary in BOUNDARIES})


@pytest.mark.parametrize("n_rhs", [1, 3])
@pytest.mark.parametrize("sloppy, boundary", [("fp32", "antiperiodic"), ("fp16", "antiperiodic"), ("fp16", "phases")])
def test_mixed_precision_gives_the_bits_of_the_cpu(check, sloppy, boundary, n_rhs):
    check(n_rhs, {(links, sloppy_links): ["--links", links, "--sloppy", sloppy, "--sloppy-links", sloppy_links,
                                          "--tolerance", 1e-12, "--boundary", BOUNDARIES[boundary]]
                  for links in (18, 12, 8) for sloppy_links in (18, 12, 8)})


@pytest.mark.parametrize("system", ["full", "even", "odd"])
@pytest.mark.parametrize("source", ["point:1,2,3,5", "point:1,2,3,4", "z2:7", "wall:3"])
def test_gpu_gives_the_bits_of_the_cpu_for_every_system(staghorn, tmp_path, gauge, source, system):
    options = ("--source", source, "--system", system)
    if source.startswith("point") and system != "full":
        parity = "odd" if sum(map(int, source.split(":")[1].split(","))) % 2 else "even"
        if parity != system:
            result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda", *options)
            assert result.returncode == 1 and system in result.stderr
            return
    assert solve(staghorn, tmp_path, gauge, "cuda", *options)[0] == solve(staghorn, tmp_path, gauge, "cpu", *options)[0]


def test_fields_that_travel_in_pieces_keep_their_bits(staghorn, tmp_path):
    """A right-hand side of 4.7 MB a parity, links of 57: more than fit into one piece of pinned memory."""
    gauge = tmp_path / "large.h5"
    staghorn("generate", "--lattice", 16, 16, 16, 48, "--sweeps", 0, "--seed", 4, "--output", gauge, check=True)
    options = ("--source", "gaussian:5", "--tolerance", 1e-6, "--loopback", "z")
    gpu, cpu = (solve(staghorn, tmp_path, gauge, device, *options, mass=1) for device in ("cuda", "cpu"))
    assert gpu[0] == cpu[0]


def test_gpu_stops_where_the_cpu_stops(staghorn, tmp_path, gauge):
    """Out of iterations: the same number, the same solution."""
    for device in ("cpu", "cuda"):
        result = staghorn("solve", "--gauge", gauge, "--mass", 0.01, "--device", device, "--max-iterations", 17,
                          "--output", tmp_path / f"{device}.h5", "--report", tmp_path / f"{device}.json")
        assert result.returncode == 3
    reports = [json.loads((tmp_path / f"{device}.json").read_text()) for device in ("cpu", "cuda")]
    assert [[rhs["iterations"] for rhs in report["rhs"]] for report in reports] == [[17] * 3] * 2
    with h5py.File(tmp_path / "cpu.h5") as cpu, h5py.File(tmp_path / "cuda.h5") as gpu:
        assert cpu["solution"][...].tobytes() == gpu["solution"][...].tobytes()


def test_gpu_is_named_in_the_first_line_and_the_report(staghorn, tmp_path, gauge):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--report", tmp_path / "r.json", check=True)
    assert "cuda:0" in result.stdout.splitlines()[0]
    assert json.loads((tmp_path / "r.json").read_text())["device"].startswith("cuda:0")


@pytest.mark.parametrize("what", ["hop", "cg", "sums"])
def test_bench_runs_on_the_gpu(staghorn, tmp_path, what):
    staghorn("bench", what, "--lattice", 8, 8, 8, 8, "--device", "cuda", "--seconds", 0.05, "--json",
             tmp_path / "b.json", check=True)
    bench = json.loads((tmp_path / "b.json").read_text())
    assert bench["stream_read_gb_s"] > 0 and bench["copy_gb_s"] > 0
    assert all(row["microseconds"] > 0 for row in bench["results"] if row["gb_s"] > 0)


def test_gpu_number_beyond_the_last_is_refused(staghorn, gauge):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda:99")
    assert result.returncode == 1
    assert "GPUs" in result.stderr
