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
    """check(n_rhs, requests) -> the reports of a GPU. Asserts that every request has the answer of the CPU."""

    def run(n_rhs, requests):
        request = ("--mass", 0.1, "--source", "gaussian:5", "--noise-vectors", n_rhs)
        found = solve_many(gauge, requests, *request, "--device", "cuda")
        assert all(report["device"].startswith("cuda") for report in found.reports)
        assert found.statuses == {0}
        assert found.answers == solve_many(gauge, requests, *request, "--device", "cpu").answers
        return found.reports

    return run


@pytest.mark.parametrize("n_rhs", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_gpu_gives_the_bits_of_the_cpu(check, precision, n_rhs):
    check(n_rhs, {(links, boundary): ["--precision", precision, "--sloppy", "none", "--links", links, "--boundary", BOUNDARIES[boundary]]
                  for links in (18, 12, 8) for boundary in BOUNDARIES})


@pytest.mark.parametrize("n_rhs", [1, 3, 16])
@pytest.mark.parametrize("sloppy, boundary", [("fp32", "antiperiodic"), ("fp16", "antiperiodic"), ("fp16", "phases")])
def test_mixed_precision_gives_the_bits_of_the_cpu(check, sloppy, boundary, n_rhs):
    reports = check(n_rhs, {(links, sloppy_links): ["--links", links, "--sloppy", sloppy, "--sloppy-links", sloppy_links,
                                                    "--tolerance", 1e-12, "--boundary", BOUNDARIES[boundary]]
                            for links in (18, 12, 8) for sloppy_links in (18, 12, 8)})
    assert all(len(rhs["updates"]) >= 1 for report in reports for rhs in report["rhs"])


ODD_POINT, EVEN_POINT = "point:1,2,3,5", "point:1,2,3,4"


@pytest.mark.parametrize("source, system", [*((source, "full") for source in (ODD_POINT, EVEN_POINT, "z2:7", "wall:3")),
                                            (ODD_POINT, "odd"), (EVEN_POINT, "even"),
                                            *((source, system) for source in ("z2:7", "wall:3") for system in ("even", "odd"))])
def test_gpu_gives_the_bits_of_the_cpu_for_every_system(staghorn, tmp_path, gauge, source, system):
    options = ("--source", source, "--system", system)
    assert solve(staghorn, tmp_path, gauge, "cuda", *options)[0] == solve(staghorn, tmp_path, gauge, "cpu", *options)[0]


@pytest.mark.parametrize("source, system", [(ODD_POINT, "even"), (EVEN_POINT, "odd")])
def test_a_source_on_the_other_parity_is_refused(staghorn, gauge, expect_error, source, system):
    result = staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda", "--source", source, "--system", system)
    expect_error(result, 1, "source 0", system, "other parity")


def test_fields_that_travel_in_pieces_keep_their_bits(staghorn, tmp_path):
    """A right-hand side has 4.7 MB a parity, the links have 57 MB: more than fits into one piece of pinned memory."""
    gauge = tmp_path / "large.h5"
    staghorn("generate", "--lattice", 16, 16, 16, 48, "--sweeps", 0, "--seed", 4, "--output", gauge, check=True)
    options = ("--source", "gaussian:5", "--tolerance", 1e-6, "--loopback", "z")
    gpu, cpu = (solve(staghorn, tmp_path, gauge, device, *options, mass=1) for device in ("cuda", "cpu"))
    assert gpu[0] == cpu[0]


def test_gpu_stops_where_the_cpu_stops(staghorn, tmp_path, gauge):
    """Where iterations run out, the number of iterations and the solution are the CPU's."""
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


BENCH_ROWS = {"hop": ["hop"], "cg": ["cg iteration"], "sums": ["hop", "hop and norm", "two sums", "cg iteration"]}


@pytest.mark.parametrize("what", BENCH_ROWS)
def test_bench_times_every_row_on_the_gpu(staghorn, tmp_path, what):
    choice = ["--precision", "fp64", "--links", "18,12"] + (["--blas", "fused"] if what == "cg" else [])
    staghorn("bench", what, "--lattice", 8, 8, 8, 8, "--device", "cuda", "--seconds", 0.05, *choice, "--json",
             tmp_path / "b.json", check=True)
    bench = json.loads((tmp_path / "b.json").read_text())
    assert bench["device"].startswith("cuda")
    assert bench["stream_read_gb_s"] > 0 and bench["copy_gb_s"] > 0
    rows = {(row["what"], row["links"]): row["microseconds"] for row in bench["results"] if row["links"]}
    assert list(rows) == [(name, links) for links in (18, 12) for name in BENCH_ROWS[what]]
    assert all(time > 0 for (name, _), time in rows.items() if name != "two sums")  # a difference of times


def test_gpu_number_beyond_the_last_is_refused(staghorn, gauge, expect_error):
    expect_error(staghorn("solve", "--gauge", gauge, "--mass", 0.1, "--device", "cuda:99"), 1, "GPUs", "99")
