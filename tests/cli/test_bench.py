"""`staghorn bench`: every kind of measurement runs, its figures are consistent, and its JSON has the promised names."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest

LATTICE = (4, 4, 4, 8)
SITES_PER_PARITY = 4 * 4 * 4 * 8 / 2
ROWS = {
    "hop": ["hop"],
    "cg": ["cg iteration"],
    "sums": ["hop", "hop and norm", "two sums", "cg iteration"],
    "exchange": [name + suffix for suffix in ("", ", no overlap")
                 for name in ("hop", "  pack", "  interior", "  wait", "  boundary")],
}

# Bytes and flops of these on 16 vectors: vectors that pass, complex products a site and colour.
VECTOR_ROWS = {"dot products": (32, 16), "gram matrix": (16, 136), "gram matrix of two": (32, 256),
               "64 products with one": (65, 64), "combination to one": (17, 16), "combination to 16": (32, 256)}


STREAM = ("--stream-mib", 32)  # what is tested here is no figure of the memory


@pytest.fixture
def bench(staghorn, tmp_path):
    """bench(what, *options) -> the JSON it wrote, with what it printed as ["stdout"]."""

    def run(what, *options, **keywords):
        path = tmp_path / "bench.json"
        lattice = [] if "--lattice" in options else ["--lattice", *LATTICE]
        result = staghorn("bench", what, *lattice, "--seconds", 0.05, "--json", path, *STREAM, *options,
                          check=True, **keywords)
        return json.loads(path.read_text()) | {"stdout": result.stdout}

    return run


@pytest.mark.parametrize("what", ROWS)
def test_every_measurement_has_all_its_rows(bench, what):
    found = bench(what, "--loopback", "t")
    assert found["what"] == what and found["lattice"] == list(LATTICE) and found["grid"] == [1, 1, 1, 1]
    assert found["stream_read_gb_s"] > 0 and found["copy_gb_s"] > 0 and found["stream_bytes"] == 32 << 20
    choices = [(precision, links) for precision in ("fp64", "fp32") for links in (18, 12, 8)]
    expected = [(name, *choice, 1) for choice in choices for name in ROWS[what]]
    expected += [(name, precision, None, 16) for precision in ("fp64", "fp32") for name in VECTOR_ROWS if what == "sums"]
    assert [(r["what"], r["precision"], r["links"], r["rhs"]) for r in found["results"]] == expected
    for result in found["results"]:
        assert {"microseconds", "gflops", "gb_s", "fraction_of_stream"} <= result.keys()
        assert result["what"].strip() in found["stdout"]
        assert result["loop"] == ("host" if result["what"] == "cg iteration" else None)
    assert "GB/s" in found["stdout"] and f"{found['stream_read_gb_s']:.1f}" in found["stdout"]
    assert f"copy {found['copy_gb_s']:.1f} GB/s" in found["stdout"]
    # Of 512 sites links and vectors are 0.3 MB: a figure of a cache, and marked as one.
    third = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")  # "32768K"; getconf tells more than there is on some processors
    assert found["cache_bytes"] >= (int(third.read_text().strip().rstrip("K")) << 10 if third.is_file() else 1)
    marked = [result["in_cache"] for result in found["results"]]
    assert marked == [0 < result["gb_s"] * result["microseconds"] * 1e3 <= found["cache_bytes"] for result in found["results"]]
    assert any(marked) == ("%*" in found["stdout"]) == ("no figure of the memory" in found["stdout"])


def test_sums_count_each_vector_once(bench):
    found = bench("sums", "--precision", "fp32", "--links", 18)
    for name, (vectors, products) in VECTOR_ROWS.items():
        (row,) = (r for r in found["results"] if r["what"] == name)
        assert row["gb_s"] * row["microseconds"] * 1e3 == pytest.approx(vectors * SITES_PER_PARITY * 24)
        assert row["gflops"] * row["microseconds"] * 1e3 == pytest.approx(products * SITES_PER_PARITY * 24)


@pytest.mark.mpi
def test_faces_and_sums_stand_alone_beside_the_hops(bench):
    """Faces of a cut in t: both ways, 4^3 / 2 sites of 3 complex colours, n right-hand sides."""
    found = bench("exchange", "--grid", "1,1,1,2", "--rhs", 3, "--precision", "fp32", "--links", 12, ranks=2)
    faces = found["results"][0]["faces"]
    assert faces["bytes"] == 2 * 4**3 / 2 * 6 * 4 * 3
    assert faces["exchange_gb_s"] == pytest.approx(faces["bytes"] / faces["exchange_microseconds"] * 1e-3)
    assert faces["sum_through_host_microseconds"] == faces["sum_by_mpi_microseconds"] > 0
    for name in ("stored_microseconds", "copied_microseconds", "stored_share_of_copied", "sum_in_kernels_microseconds"):
        assert faces[name] is None  # of GPUs
    assert "faces alone" in found["stdout"] and "one global sum" in found["stdout"]


@pytest.mark.parametrize("precision, links, rhs", [("fp64", 18, 1), ("fp32", 12, 1), ("fp64", 8, 1), ("fp32", 18, 5),
                                                    ("fp16", 12, 1), ("fp16", 18, 3)])
def test_figures_follow_from_the_time(bench, precision, links, rhs):
    """570 flop a site and hop; bytes of each link and each vector once: (8 R + 12 n) w a site of the target parity."""
    found = bench("hop", "--precision", precision, "--links", links, "--rhs", rhs)
    (result,) = found["results"]
    assert (result["precision"], result["links"], result["rhs"]) == (precision, links, rhs)
    seconds, width = result["microseconds"] * 1e-6, {"fp64": 8, "fp32": 4, "fp16": 2}[precision]
    vector = 16 if precision == "fp16" else 6 * width
    assert result["gflops"] == pytest.approx(570 * rhs * SITES_PER_PARITY / seconds * 1e-9)
    assert result["gb_s"] == pytest.approx((8 * links * width + 2 * vector * rhs) * SITES_PER_PARITY / seconds * 1e-9)
    assert result["fraction_of_stream"] == pytest.approx(result["gb_s"] / found["stream_read_gb_s"])


@pytest.mark.mpi
def test_two_ranks_share_the_lattice(bench):
    found = bench("cg", "--precision", "fp64", "--links", 18, "--grid", "1,1,1,2", ranks=2)
    (result,) = found["results"]
    assert (found["ranks"], found["grid"]) == (2, [1, 1, 1, 2])
    expected = 2 * SITES_PER_PARITY / (result["microseconds"] * 1e-6)
    assert result["site_iterations_per_second"] == pytest.approx(expected)


@pytest.mark.mpi
def test_scaling_runs_every_count_in_one_call(staghorn, tmp_path):
    """4x4x4x8 shared by 1, 2 and 4 of four ranks, and 4x4x4x4 held by each: efficiency t_1 / (n t_n), and t_1 / t_n."""
    path = tmp_path / "scaling.json"
    staghorn("bench", "scaling", "--lattice", *LATTICE, "--local", 4, 4, 4, 4, "--seconds", 0.02, *STREAM, "--precision", "fp64",
             "--links", "18,12", "--json", path, ranks=4, env={"STAGHORN_RANKS_PER_HOST": "2"}, check=True)
    found = json.loads(path.read_text())
    rows = {(r["series"], r["links"], r["ranks"]): r for r in found["results"]}
    assert list(rows) == [(s, links, n) for s in ("strong", "weak") for links in (18, 12) for n in (1, 2, 4)]
    for (series, links, n), row in rows.items():
        speed_up = rows[series, links, 1]["microseconds"] / row["microseconds"]
        assert row["efficiency"] == pytest.approx(speed_up / n if series == "strong" else speed_up)
        assert row["gflops"] == pytest.approx((2 * 570 + 84) * prod(row["lattice"]) / 2 / row["microseconds"] * 1e-3)
        assert row["lattice"] == [e * g for e, g in zip(row["local_lattice"], row["grid"])] and prod(row["grid"]) == n
        assert row["lattice"] == list(LATTICE) if series == "strong" else row["local_lattice"] == [4, 4, 4, 4]
        assert (row["hosts"], row["transport"]) == ((n + 1) // 2, "none" if n == 1 else "mpi")
        assert row["floor_microseconds"] is None  # of GPUs only


@pytest.mark.mpi
@pytest.mark.mpi
@pytest.mark.parametrize("what", ["scaling", "mapping"])
def test_cuts_of_improved_quarks(staghorn, tmp_path, what):
    path = tmp_path / "cuts.json"
    staghorn("bench", what, "--lattice", 8, 8, 8, 12, "--action", "hisq", "--naik-links", "18,13", "--seconds", 0.02, *STREAM,
             "--precision", "fp64", "--json", path, ranks=2, check=True)
    results = json.loads(path.read_text())["results"]
    runs = {"scaling": 2, "mapping": 3}[what]  # 1 and 2 ranks; mappings
    assert [result["naik_links"] for result in results].count(13) == [result["naik_links"] for result in results].count(18) == runs
    assert all(row["gflops"] == pytest.approx((2 * 1146 + 84) * prod(row["lattice"]) / 2 / row["microseconds"] * 1e-3) for row in results)


def test_scaling_puts_local_lattices_together_along_one_direction(staghorn, tmp_path):
    path = tmp_path / "scaling.json"
    staghorn("bench", "scaling", "--local", 4, 4, 4, 8, "--along", "t", "--seconds", 0.02, *STREAM, "--precision", "fp64", "--links", 18,
             "--json", path, ranks=4, check=True)
    assert [row["lattice"] for row in json.loads(path.read_text())["results"]] == [[4, 4, 4, 8 * n] for n in (1, 2, 4)]


@pytest.mark.mpi
def test_scaling_leaves_out_what_cannot_be_cut(staghorn, expect_error):
    arguments = ["bench", "scaling", "--lattice", "4x4x4x4", "--seconds", 0.02, *STREAM, "--precision", "fp64", "--links", 18]
    result = staghorn(*arguments, ranks=3, check=True)
    assert "strong, 3 ranks: left out: process grid: expected a number of ranks that cuts 4x4x4x4" in result.stdout
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("strong ")] == ["1", "2"]
    arguments[3] = "2x2x2x3"
    expect_error(staghorn(*arguments, ranks=2), 1, "2x2x2x3", "even")


@pytest.mark.mpi
def test_mapping_times_three_orders_of_ranks(staghorn, tmp_path):
    path = tmp_path / "mapping.json"
    staghorn("bench", "mapping", "--lattice", 8, 4, 4, 4, "--grid", "2,1,2,1", "--seconds", 0.02, *STREAM, "--precision", "fp32",
             "--links", 12, "--json", path, ranks=4, env={"STAGHORN_RANKS_PER_HOST": "2"}, check=True)
    rows = json.loads(path.read_text())["results"]
    shares = {row["series"]: row["face_share_within_hosts"] for row in rows}
    # of the local lattice 4x4x2x4 a face across x has 32 sites, one across z 64
    assert shares == pytest.approx({"natural": 1 / 3, "reversed": 2 / 3, "host": 2 / 3})
    for row in rows:
        assert row["efficiency"] == pytest.approx(rows[0]["microseconds"] / row["microseconds"])


def test_block_solver_has_an_iteration_of_its_own(bench):
    found = bench("cg", "--solver", "block", "--rhs", 4, "--precision", "fp64,fp32,fp16", "--links", 18)
    rows = [(r["what"], r["precision"], r["rhs"], r["loop"]) for r in found["results"]]
    assert rows == [("cg iteration, block", precision, 4, "block") for precision in ("fp64", "fp32")]
    for result in found["results"]:  # site and iteration: 2 hops of 4, 9 or 11 vectors besides, of half the sites
        word = 8 if result["precision"] == "fp64" else 4
        per_site = 2 * (8 * 18 * word + 4 * 12 * word) + 4 * (9 if word == 8 else 11) * 6 * word
        assert result["gb_s"] == pytest.approx(per_site * 4 * 4 * 4 * 8 / 2 / result["microseconds"] * 1e-3, rel=0.01)


@pytest.mark.parametrize("arguments, words", [
    ([], ["required"]),
    (["hop"], ["lattice", "required"]),
    (["hopp", "--lattice", "4x4x4x4"], ["hop, cg, sums, exchange, scaling, mapping or shares", "hopp"]),
    (["hop", "--lattice", "4x4x4"], ["--lattice", "x, y, z, t"]),
    (["hop", "--local", "4x4x4x4"], ["--local", "scaling"]),
    (["scaling"], ["--lattice or --local", "required"]),
    (["scaling", "--local", "4x4x4x4", "--along", ""], ["--along", "x, y, z, t", "none"]),
    (["scaling", "--local", "4x4x4x4", "--along", "w"], ["--along", "w"]),
    (["scaling", "--lattice", "4x4x4x4", "--along", "t"], ["--along", "--local"]),
    (["scaling", "--local", "4x4x4x4", "--grid", "1,1,1,1"], ["--grid", "scaling"]),
    (["mapping", "--lattice", "4x4x4x4", "--mapping", "best"], ["--mapping", "host, natural or reversed", "best"]),
    (["hop", "--lattice", "4x4x4x4", "--precision", "fp8"], ["--precision", "fp64", "fp8"]),
    (["hop", "--lattice", "4x4x4x4", "--links", "18,9"], ["--links", "18", "9"]),
    (["hop", "--lattice", "4x4x4x4", "--links", ""], ["--links"]),
    (["hop", "--lattice", "4x4x4x4", "--rhs", "0"], ["--rhs", "1 to 64", "0"]),
    (["hop", "--lattice", "4x4x4x4", "--rhs", "65"], ["--rhs", "1 to 64", "65"]),
    (["hop", "--lattice", "4x4x4x4", "--seconds", "0"], ["--seconds"]),
    (["hop", "--lattice", "4x4x4x4", "--stream-mib", "0"], ["--stream-mib", "1 to 1048576", "0"]),
    (["hop", "--lattice", "4x4x4x4", "--loopback", "xw"], ["--loopback", "xyzt", "xw"]),
    (["hop", "--lattice", "4x4x4x4", "--instruction-set", "mmx"], ["--instruction-set", "baseline", "mmx"]),
    (["cg", "--lattice", "4x4x4x4", "--blas", "mkl"], ["--blas", "fused or cublas", "mkl"]),
    (["cg", "--lattice", "4x4x4x4", "--solver", "multigrid"], ["--solver", "cg or block", "multigrid"]),
    (["cg", "--lattice", "4x4x4x4", "--solver", "block"], ["--rhs", "2 to 16", "1"]),
    (["hop", "--lattice", "4x4x4x4", "--solver", "block", "--rhs", "4"], ["--solver block", "bench cg"]),
    (["hop", "stray", "--lattice", "4x4x4x4"], ["bench --help"]),
    (["hop", "--lattice", "4x4x4x4", "--link", "12"], ["unknown option 'link'", "'links'"]),
])
def test_wrong_usage(staghorn, expect_error, arguments, words):
    expect_error(staghorn("bench", *arguments), 2, *words)


def test_existing_json_is_kept_without_force(staghorn, expect_error, tmp_path):
    path = tmp_path / "bench.json"
    path.write_text("keep me")
    expect_error(staghorn("bench", "hop", "--lattice", "4x4x4x4", "--seconds", 0.05, "--json", path), 1, path, "--force")
    assert path.read_text() == "keep me"
