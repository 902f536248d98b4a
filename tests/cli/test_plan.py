"""`staghorn plan`: the floor model scales as bytes and latencies do, and memory is that of a solve."""

from __future__ import annotations

import json

import pytest
from launcher import OPEN_MPI, launcher_of


@pytest.fixture
def plan(staghorn, tmp_path):
    """plan(*options, machine={...}) -> its JSON; `machine` replaces values of the built-in one. Without --sloppy: none."""

    def run(*options, machine=None):
        arguments = ["plan", "--json", *(() if "--sloppy" in options else ("--sloppy", "none")), *options]
        if machine is not None:
            built_in = json.loads(staghorn(*arguments, check=True).stdout)["machine"]
            (tmp_path / "machine.json").write_text(json.dumps(built_in | machine))
            arguments += ["--machine", tmp_path / "machine.json"]
        return json.loads(staghorn(*arguments, check=True).stdout)

    return run


def one(plan, *options, **keywords):
    (found,) = plan(*options, **keywords)["plans"]
    return found


VECTOR_REALS = 54 + 18 / 16
PHASES = 2 + 1 / 16
NO_LATENCY = dict.fromkeys(("host_latency_us", "network_latency_us", "kernel_latency_us", "phase_latency_us"), 0)


@pytest.mark.parametrize("precision, width", [("fp64", 8), ("fp32", 4)])
@pytest.mark.parametrize("links, rhs", [(18, 1), (12, 1), (12, 5)])
def test_time_of_one_gpu_is_that_of_its_bytes(plan, precision, width, links, rhs):
    """Two passes over the links and 54 reals of vectors a site of one parity, and in one iteration of 16 18 more."""
    found = one(plan, "--lattice", "32x32x32x64", "--precision", precision, "--links", links, "--rhs", rhs,
                machine=NO_LATENCY | {"stream_gb_s": 1000})
    expected = (16 * links + VECTOR_REALS * rhs) * width * 32**3 * 64 / 2 / 1000e9
    assert found["microseconds"] == pytest.approx(expected * 1e6)
    assert found["efficiency"] == pytest.approx(1)


@pytest.mark.parametrize("options, sloppy", [((), "fp32"), (("--precision", "fp32"), "none")])
def test_iterations_are_foreseen_in_the_precision_of_a_solve(plan, options, sloppy):
    found, named = (one(plan, "--lattice", "8x8x8x8", *options, "--sloppy", word) for word in ("auto", sloppy))
    assert found == named


def test_an_iteration_has_two_phases_and_seldom_a_third(plan, staghorn):
    """Hop: r, tmp, tmp; residual update: tmp, p, r, p, r, in every second iteration x, x; a latency for each."""
    found = one(plan, "--lattice", "32x32x32x64", "--links", 12)
    bytes_moved = (16 * 12 + VECTOR_REALS) * 8 * 32**3 * 64 / 2
    assert found["kernels"] == "one"
    assert found["memory_microseconds"] == pytest.approx(bytes_moved / 4550e9 * 1e6)
    assert found["latency_microseconds"] == pytest.approx(PHASES * 1)
    rows = staghorn("plan", "--lattice", "32x32x32x64", "--links", 12, "--gpus", "1,16", check=True).stdout.splitlines()
    columns = rows[1].split()
    assert [row.split()[columns.index("kernels")] for row in rows[2:4]] == ["one", "two"]


@pytest.mark.parametrize("kernels, lattice, grid, options", [
    ("one", "32x32x32x66", "1,1,1,1", ["--precision", "fp64"]),
    ("one", "64x64x64x32", "1,1,1,1", ["--precision", "fp32"]),  # 2^23 sites
    ("two", "64x64x64x34", "1,1,1,1", ["--precision", "fp32"]),
    ("one", "32x32x32x128", "1,1,1,2", ["--sloppy", "fp32"]),  # the iterations are those in fp32, with 12 reals
    ("two", "64x64x64x68", "1,1,1,2", ["--sloppy", "fp32"]),
    ("one", "64x64x64x64", "1,1,1,2", ["--sloppy", "fp16"]),
    ("two", "64x64x64x68", "1,1,1,2", ["--sloppy", "fp16"]),
    ("two", "16x16x16x32", "1,1,1,1", ["--rhs", 2]),
    ("one", "64x64x64x32", "1,1,1,1", []),
    ("two", "64x64x64x34", "1,1,1,1", []),
    ("one", "32x32x32x64", "1,1,1,8", []),
    ("two", "32x32x32x64", "1,1,1,16", []),  # two hosts
])
def test_form_of_the_loop_is_that_of_a_solve(plan, kernels, lattice, grid, options):
    found = one(plan, "--lattice", lattice, "--grid", grid, *options)
    assert found["kernels"] == kernels


def test_form_that_the_environment_asks_for_is_taken_where_it_can_run(staghorn):
    def kernels(asked, *options):
        result = staghorn("plan", "--json", "--lattice", "16x16x16x32", *options, check=True,
                          env={"STAGHORN_CG_KERNELS": asked})
        return json.loads(result.stdout)["plans"][0]["kernels"]

    assert kernels("two") == "two"
    assert kernels("one", "--rhs", 3) == "one"
    assert kernels("wide", "--rhs", 3) == "one"
    assert kernels("one", "--sloppy", "fp16") == "one"
    assert kernels("one", "--gpus", 16) == "two"


def test_iteration_in_fp16_moves_x_in_fp32(plan):
    """A vector in fp16 takes 16 bytes a site, x 24."""
    found = one(plan, "--lattice", "16x16x16x32", "--sloppy", "fp16")
    vectors = (8 + 3 / 16) * 16 + 24
    assert found["memory_microseconds"] == pytest.approx((16 * 12 * 2 + vectors) * 16**3 * 32 / 2 / 4550e9 * 1e6)
    assert found["latency_microseconds"] == pytest.approx(PHASES * 1)


def test_faces_of_one_kernel_hide_behind_the_interior_of_its_two_phases(plan):
    """Two GPUs, t cut: faces of tmp wait for the hop's interior, those of r for the residual update's."""
    found = one(plan, "--lattice", "16x16x16x32", "--grid", "1,1,1,2", "--links", 12, machine={"host_gb_s": 10})
    assert found["kernels"] == "one"
    faces = 1.25 + 2 * 16**3 / 2 * 6 * 8 / 10e9 * 1e6
    phases = [(8 * 12 + vectors) * 8 * 16**4 / 2 / 4550e9 * 1e6 for vectors in (18, 36)]
    interior = (16 - 2) / 16
    seldom = 18 / 16 * 8 * 16**4 / 2 / 4550e9 * 1e6
    assert found["memory_microseconds"] == pytest.approx(sum(phases) + seldom)
    assert found["face_microseconds"] == pytest.approx(sum(faces - interior * phase for phase in phases))
    assert found["latency_microseconds"] == pytest.approx(PHASES * 6)


def test_doubled_bandwidth_halves_the_time_of_memory(plan):
    times = [one(plan, "--lattice", "32x32x32x64", machine={"stream_gb_s": stream}) for stream in (2000, 4000)]
    assert times[0]["memory_microseconds"] == pytest.approx(2 * times[1]["memory_microseconds"])
    assert times[0]["latency_microseconds"] == times[1]["latency_microseconds"] > 0


def test_weak_scaling_is_flat(plan):
    """32^4 on each GPU, all directions cut, faces hidden: only the sum over more hosts adds to the time."""
    times = [one(plan, "--lattice", *[32 * n for n in grid], "--grid", ",".join(map(str, grid)))
             for grid in ((2, 2, 2, 4), (2, 2, 4, 4), (4, 4, 4, 4))]
    assert times[0]["memory_microseconds"] == times[1]["memory_microseconds"] == times[2]["memory_microseconds"]
    assert times[2]["microseconds"] == pytest.approx(times[0]["microseconds"], rel=0.2)
    without_latency = [t["microseconds"] - t["latency_microseconds"] for t in times]
    assert without_latency == pytest.approx([without_latency[0]] * 3)


def test_strong_scaling_loses_efficiency(plan):
    plans = plan("--lattice", "96x96x96x192", "--links", 12, "--gpus", "64,128,...,4096")["plans"]
    assert [p["gpus"] for p in plans] == [64, 128, 256, 512, 1024, 2048, 4096]
    efficiencies = [p["efficiency"] for p in plans]
    assert efficiencies == sorted(efficiencies, reverse=True) and 0 < efficiencies[-1] < efficiencies[0] < 1


def test_faces_that_the_interior_does_not_hide_cost_time(plan):
    options = ("--lattice", "16x16x16x32", "--grid", "1,1,1,8")
    fast, slow = (one(plan, *options, machine={"host_gb_s": speed}) for speed in (1e6, 1))
    assert fast["memory_microseconds"] == slow["memory_microseconds"]
    faces = 2 * 16**3 / 2 * 6 * 8 / 1e9  # seconds of two faces of half the sites at 1 GB/s
    assert 0 < slow["face_microseconds"] <= 2 * (faces + 1.25e-6) * 1e6
    assert fast["face_microseconds"] < 0.05 * slow["face_microseconds"]


def test_gpus_of_another_host_are_reached_over_the_network(plan):
    options = ("--lattice", "16x16x16x32", "--grid", "1,1,1,8")
    within, across = (one(plan, *options, machine={"gpus_per_host": n, "network_gb_s": 1}) for n in (8, 4))
    assert within["face_microseconds"] < across["face_microseconds"]
    assert within["latency_microseconds"] < across["latency_microseconds"]


def test_memory_is_that_of_a_solve(plan, solve, staghorn, tmp_path):
    """A solve on a CPU keeps the same fields on the host, but for the padding of those on a GPU: 4128 places for 4096 sites."""
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--sweeps", 0, "--output", gauge, check=True)
    taken = solve(gauge=gauge).report["memory_bytes"]
    planned = one(plan, "--lattice", "8x8x8x16", "--sloppy", "auto", "--certificate", "host")["objects"]
    for name in ("certificate_links", "certificate_vectors", "sources_solutions"):
        assert planned[name] == taken[name]
    assert planned["vectors"] == taken["vectors"] * 4128 / 4096


def test_a_gpu_certifies_where_it_has_room(plan):
    """1.2 GB of links, the residual, a source and a solution; 3 GB hold the solve alone."""
    lattice, certificate = ("--lattice", "32x32x32x64"), 32**3 * 64 * (576 + 3 * 48)
    objects = {gb: one(plan, *lattice, machine={"memory_gb": gb})["objects"] for gb in (80, 3)}
    assert (objects[80]["device_certificate"], objects[80]["certificate_vectors"]) == (certificate, 0)
    assert (objects[3]["device_certificate"], objects[3]["certificate_vectors"]) == (0, 32**3 * 64 * 48)


def test_each_mass_takes_the_memory_of_two_vectors(plan):
    two, three = (one(plan, "--lattice", "8x8x8x8", "--system", "even", "--masses", masses)["objects"]
                  for masses in ("0.1,0.2", "0.1,0.2,0.3"))
    of_one = two["vectors"] / 5  # x, b; r, p, tmp
    assert three["shifted_vectors"] - two["shifted_vectors"] == pytest.approx(2 * of_one)
    assert "shifted_vectors" not in one(plan, "--lattice", "8x8x8x8", "--system", "even")["objects"]


def test_masses_of_several_epsilons_take_their_vectors_in_turn(plan):
    together, in_turn = (one(plan, "--lattice", "8x8x8x8", "--action", "hisq", "--masses", masses)["objects"]
                         for masses in ("0.1,0.2", "0.1,0.2,0.3:-0.1"))
    assert in_turn["shifted_vectors"] == together["shifted_vectors"]
    assert in_turn["sources_solutions"] == together["sources_solutions"] * 4 / 3


def test_too_large_a_lattice_is_said_not_to_fit_and_what_would(plan, staghorn):
    found = one(plan, "--lattice", "96x96x96x192", "--rhs", 12)
    assert not found["fits"] and found["gpu_bytes"] > 149e9
    assert "right-hand side" in found["would_fit"] and "GPUs" in found["would_fit"]
    text = staghorn("plan", "--lattice", "96x96x96x192", "--rhs", 12, "--sloppy", "none", check=True).stdout
    assert "does not fit" in text and found["would_fit"] in text


def test_memory_of_a_search_for_eigenpairs(plan, staghorn):
    """Two bases of half as many vectors again as pairs, and five blocks of eight, of 48 bytes a site of one parity and a little."""
    options = ["--lattice", "32x32x32x64", "--gpus", "1,8", "--find-eigenpairs", 128]
    single, eight = plan(*options)["plans"]
    assert single["vectors"] == 2 * 192 + 40
    for found, gpus in ((single, 1), (eight, 8)):
        assert found["objects"]["basis"] == pytest.approx(424 * 48 * 32**3 * 64 / 2 / gpus, rel=0.01)
        assert found["bytes"] == found["objects"]["links"] + found["objects"]["halo"] + found["objects"]["basis"]
        assert found["fits"] and 128 < found["most_pairs"] <= 1000
    half, _ = plan(*options, "--precision", "fp32")["plans"]
    assert half["objects"]["basis"] == single["objects"]["basis"] / 2 and half["objects"]["links"] > single["objects"]["links"]
    small = {"memory_gb": 1.01 * single["bytes"] / 1e9}
    most = plan(*options, machine=small)["plans"][0]["most_pairs"]
    assert 128 <= most < 132
    few = {"memory_gb": 0.99 * single["bytes"] / 1e9}
    found = plan(*options, machine=few)["plans"][0]
    assert not found["fits"] and found["most_pairs"] < 128
    rows = staghorn("plan", *options, check=True).stdout.splitlines()
    assert "128 eigenpairs to find" in rows[0] and rows[2].split()[-1] == str(single["most_pairs"])


def test_memory_of_exact_low_modes(plan):
    """32 fields of one side of a product of eigenvectors and one of the other, 48 bytes a site in fp64, on the host."""
    options = ["--lattice", "32x32x32x64", "--gpus", "2", "--eigenpairs"]
    without, = plan(*options, 128)["plans"]
    for pairs, fields in ((128, 33), (20, 20)):
        found, = plan(*options, pairs, "--exact-low-modes")["plans"]
        assert found["objects"]["low_modes"] == fields * 48 * 32**3 * 64 / 2
    found, = plan(*options, 128, "--exact-low-modes")["plans"]
    assert found["host_bytes"] == without["host_bytes"] + found["objects"]["low_modes"]
    assert "low_modes" not in without["objects"]


def test_eigenvectors_of_a_gpu_on_the_host(plan, staghorn):
    """Where they do not fit beside the solve, or where that is asked; two vectors for each right-hand side stay there."""
    options = ["--lattice", "32x32x32x64", "--gpus", "1", "--eigenvector-precision", "fp64", "--eigenpairs"]
    found, = plan(*options, 4000)["plans"]
    objects = found["objects"]
    assert objects["eigenvectors"] == pytest.approx(4000 * 48 * 32**3 * 64 / 2, rel=0.01)
    assert objects["eigenvectors"] == 2000 * objects["deflation"]
    assert found["fits"] and found["gpu_bytes"] < objects["eigenvectors"] < found["host_bytes"]
    there, = plan(*options, 4000, "--eigenvectors-on", "device")["plans"]
    assert not there["fits"] and "--eigenvectors-on host" in there["would_fit"]
    assert there["gpu_bytes"] == found["gpu_bytes"] + objects["eigenvectors"]
    assert "GB (host)" in staghorn("plan", *options, 4000, check=True).stdout
    device, host = (plan(*options, 100, "--eigenvectors-on", place)["plans"][0] for place in ("auto", "host"))
    moved = device["objects"]["eigenvectors"]
    assert device["gpu_bytes"] - host["gpu_bytes"] == host["host_bytes"] - device["host_bytes"] == moved > 0


@pytest.mark.parametrize("arguments, status, words", [
    (["--lattice", "8x8x8x8", "--exact-low-modes"], 2, ["--exact-low-modes", "--eigenpairs"]),
    (["--lattice", "8x8x8x8", "--exact-low-modes", "--eigenpairs", "9", "--system", "odd"], 1, ["exact-low-modes", "full"]),
    (["--lattice", "8x8x8x8", "--gpus", "7"], 1, ["process grid", "8x8x8x8", "7 ranks"]),
    (["--lattice", "8x8x8x8", "--grid", "1,1,1,5"], 1, ["process grid", "8x8x8x8", "1x1x1x5"]),
    (["--lattice", "8x8x8x7"], 1, ["8x8x8x7", "even"]),
    (["--lattice", "8x8x8x8", "--gpus", "2", "--grid", "1,1,1,2"], 2, ["--grid", "--gpus"]),
    (["--lattice", "8x8x8x8", "--gpus", "2,...,8"], 2, ["--gpus", "..."]),
    (["--lattice", "8x8x8x8", "--gpus", "none"], 2, ["--gpus", "none"]),
    (["--lattice", "8x8x8x8", "--machine", "missing.json"], 1, ["missing.json"]),
    (["--lattice", "8x8x8x8", "--rhs", "0"], 2, ["--rhs", "1 to 64"]),
    (["--lattice", "8x8x8x8", "--find-eigenpairs", "0"], 2, ["--find-eigenpairs", "1 to 1000"]),
    ([], 2, ["lattice", "required"]),
])
def test_impossible_requests_are_refused(staghorn, expect_error, arguments, status, words):
    expect_error(staghorn("plan", *arguments), status, *words)


CPUS = {"stream_gb_s": 100, "memory_gb": 64, "ranks_per_host": 2, "threads_per_rank": 16, "host_latency_us": 2, "network_gb_s": 12.5}


@pytest.fixture
def cpus(plan, tmp_path, staghorn):
    """A machine file of CPUs: that of this host, with other figures."""
    here = json.loads(staghorn("plan", "--json", "--lattice", "8x8x8x8", "--machine", "here", "--stream", 30, check=True).stdout)
    path = tmp_path / "cpus.json"
    path.write_text(json.dumps(here["machine"] | CPUS))
    return path


def test_this_host_is_a_machine_of_cpus(staghorn, tmp_path):
    """Its streaming read is measured, or given; threads and memory are those that there are."""
    def here(*options, threads=2):
        return json.loads(staghorn("plan", "--json", "--lattice", "8x8x8x16", "--machine", "here", *options, check=True,
                                   threads=threads, env={"STAGHORN_HOST_MEMORY": "1e9"}).stdout)

    found = here("--stream", 30)
    machine, (of_host,) = found["machine"], found["plans"]
    ranks = machine["ranks_per_host"]
    assert machine["name"] == "here" and machine["stream_gb_s"] * ranks == pytest.approx(30)
    assert machine["memory_gb"] * ranks == pytest.approx(1) and machine["threads_per_rank"] * ranks == 2
    assert of_host["ranks"] == ranks and of_host["kernels"] == "host" and of_host["gpu_bytes"] == 0 < of_host["host_bytes"]
    measured = here()["machine"]["stream_gb_s"]
    assert 0.1 < measured < 10000 and measured != machine["stream_gb_s"]
    assert here("--stream", 30, threads=1)["machine"]["threads_per_rank"] == 1


def test_time_on_cpus_is_that_of_their_bytes(plan, cpus):
    found = one(plan, "--lattice", "16x16x16x32", "--machine", cpus, "--ranks", 1, "--iterations", 1000)
    expected = (16 * 18 + VECTOR_REALS) * 8 * 16**3 * 32 / 2 / 100e9
    assert found["memory_microseconds"] == pytest.approx(expected * 1e6)
    assert found["seconds"] == pytest.approx(found["microseconds"] * 1e-3)
    two = one(plan, "--lattice", "16x16x16x32", "--machine", cpus, "--stream", 100)  # of both ranks of a host
    assert two["ranks"] == 2 and two["memory_microseconds"] == pytest.approx(expected * 1e6)


def test_plan_for_cpus_says_how_to_start(staghorn, cpus):
    text = staghorn("plan", "--lattice", "32x32x32x64", "--machine", cpus, "--ranks", "1,2,8", "--iterations", 500, check=True).stdout
    assert "2 ranks a host, 16 threads each; streaming read 100.0 GB/s and 64.00 GB each" in text
    assert "  OMP_NUM_THREADS=16 staghorn solve ..." in text
    start = "mpirun -n 8 --map-by ppr:2:node:PE=16" if launcher_of() is OPEN_MPI else "mpiexec -n 8 -ppn 2 -bind-to core:16"
    assert f"  OMP_NUM_THREADS=16 {start} staghorn solve ..." in text
    assert "500 iterations on 8 ranks: " in text and "GPUs" not in text


def test_memory_on_cpus_is_that_of_a_solve(plan, solve, staghorn, cpus, tmp_path):
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--sweeps", 0, "--output", gauge, check=True)
    planned = one(plan, "--lattice", "8x8x8x16", "--sloppy", "auto", "--machine", cpus, "--ranks", 1)["objects"]
    report = solve(gauge=gauge).report
    assert planned == report["predicted_memory_bytes"]


def test_too_large_a_lattice_does_not_fit_into_the_memory_of_cpus(plan, cpus):
    found = one(plan, "--lattice", "64x64x64x128", "--machine", cpus, "--ranks", 1, "--rhs", 12)
    assert not found["fits"] and found["host_bytes"] > 64e9 and "rank" in found["would_fit"]


@pytest.mark.parametrize("options, words", [
    (["--machine", "CPUS", "--gpus", "2"], ["--gpus", "--ranks for a machine of CPUs"]),
    (["--ranks", "2"], ["--ranks", "--gpus for a machine of GPUs"]),
    (["--machine", "CPUS", "--ranks", "2", "--grid", "1,1,1,2"], ["--grid", "--ranks"]),
    (["--machine", "h200,CPUS", "--gpus", "2"], ["--gpus", "--ranks for several machines"]),
    (["--machine", "h200,CPUS", "--ranks", "16"], ["--machine", "2 to 10 ranks of one host", "16 ranks"]),
    (["--machine", "h200,CPUS", "--stream", "30"], ["--stream", "one machine"]),
    (["--machine", "h200,CPUS", "--find-eigenpairs", "4"], ["--find-eigenpairs", "one machine"]),
    (["--machine", "h200,"], ["--machine", "h200, h100, a100, b200, here, or a file", "'h200,'"]),
    (["--shares", "3:x"], ["--shares", "t=3:1", "3:x"]),
    (["--machine", "CPUS", "--ranks", "x"], ["--ranks", "numbers from 1 to 65536"]),
    (["--stream", "0"], ["--stream", "above 0"]), (["--iterations", "0"], ["--iterations", "at least 1"]),
])
def test_wrong_words_for_a_machine_are_refused(staghorn, cpus, expect_error, options, words):
    named = [word.replace("CPUS", str(cpus)) for word in options]
    expect_error(staghorn("plan", "--lattice", "8x8x8x8", *named), 2, *words)


def test_the_largest_of_uneven_slabs_counts(plan):
    even, uneven = (one(plan, "--lattice", "16x16x16x32", *options, machine=NO_LATENCY | {"host_gb_s": 1e9})
                    for options in (["--gpus", 2], ["--shares", "3:1"]))
    assert uneven["widths"] == [[16], [16], [16], [24, 8]] and uneven["grid"] == [1, 1, 1, 2]
    assert uneven["local_lattice"] == [16, 16, 16, 24]
    assert uneven["memory_microseconds"] == pytest.approx(1.5 * even["memory_microseconds"])
    assert uneven["efficiency"] == pytest.approx(even["efficiency"] / 1.5)
    links = [found["objects"]["certificate_links"] for found in (even, uneven)]
    assert links[1] == 1.5 * links[0]


@pytest.fixture
def unlike(plan, staghorn, tmp_path):
    """unlike(*options): the plans of a GPU of 300 GB/s beside a CPU of 100, by their slabs; nothing else takes time."""
    free = NO_LATENCY | {"host_gb_s": 1e9}
    built_in = json.loads(staghorn("plan", "--json", "--lattice", "8x8x8x8", check=True).stdout)["machine"]
    (tmp_path / "gpu.json").write_text(json.dumps(built_in | free | {"name": "gpu", "stream_gb_s": 300}))
    del built_in["gpus_per_host"]
    (tmp_path / "cpu.json").write_text(json.dumps(built_in | CPUS | free | {"name": "cpu"}))

    def run(*options, lattice="16x16x16x32"):
        found = plan("--lattice", lattice, "--machine", f"{tmp_path / 'gpu.json'},{tmp_path / 'cpu.json'}", *options)
        assert [machine["name"] for machine in found["machines"]] == ["gpu", "cpu"]
        return {of["slabs"]: of for of in found["plans"]}

    return run


def test_ranks_of_two_kinds_end_together(unlike):
    plans = unlike("--shares", "auto")
    assert list(plans) == ["auto", "even", "gpu alone", "cpu alone"]
    chosen, even, gpu, cpu = plans.values()
    assert chosen["widths"][3] == [24, 8] and even["widths"][3] == [16, 16]
    assert chosen["kinds"][0]["microseconds"] == pytest.approx(chosen["kinds"][1]["microseconds"], rel=1e-3)
    assert chosen["microseconds"] == pytest.approx(0.75 * gpu["microseconds"], rel=1e-3)
    assert even["microseconds"] == pytest.approx(0.5 * cpu["microseconds"], rel=1e-3)
    assert chosen["efficiency"] == pytest.approx(1, rel=1e-3)
    assert "--device cuda,cpu --grid 1,1,1,2 --shares t=24:8" in chosen["start"]


def test_each_kind_has_the_memory_of_its_part(unlike):
    """Links of the certificate, 576 bytes a site, are on the host of both; only a GPU has memory of its own."""
    gpu, cpu = unlike("--shares", "7:1")["7:1"]["kinds"]
    assert gpu["local_lattice"] == [16, 16, 16, 28] and cpu["local_lattice"] == [16, 16, 16, 4]
    for kind, width in ((gpu, 28), (cpu, 4)):
        assert kind["objects"]["certificate_links"] == 576 * 16**3 * width
    assert gpu["gpu_bytes"] > 0 == cpu["gpu_bytes"]
    assert cpu["host_bytes"] > cpu["objects"]["links"] > 0


def test_ranks_take_the_kinds_in_turn(unlike):
    chosen, *_ = unlike("--shares", "auto", "--grid", "1,1,1,4").values()
    assert chosen["widths"][3] == [12, 4, 12, 4] and [kind["ranks"] for kind in chosen["kinds"]] == [2, 2]


def test_one_kind_that_does_not_fit_is_said(unlike):
    found = unlike("--rhs", 64, "--ranks", 2, "--shares", "auto", lattice="64x64x64x128")["auto"]
    gpu, cpu = found["kinds"]
    assert not found["fits"] and (not gpu["fits"] or not cpu["fits"])


@pytest.mark.parametrize("change, words", [
    ({"stream_gb_s": 0}, ["stream_gb_s", "positive", "0"]),
    ({"memory_gb": "much"}, ["memory_gb", "much"]),
    ({"colour": 1}, ["colour"]),
    ({"phase_latency_us": None}, ["phase_latency_us"]),
    ({"threads_per_rank": 4}, ["keys of a machine", "gpus_per_host"]),
    ({"gpus_per_host": 1.5}, ["gpus_per_host from 1 to 65536", "1.5"]),
])
def test_machine_file_is_checked(staghorn, expect_error, tmp_path, change, words):
    path = tmp_path / "machine.json"
    machine = json.loads(staghorn("plan", "--lattice", "8x8x8x8", "--json", check=True).stdout)["machine"]
    path.write_text(json.dumps(machine | change))
    expect_error(staghorn("plan", "--lattice", "8x8x8x8", "--machine", path), 1, "machine.json", *words)


def test_machine_file_without_a_key(staghorn, expect_error, tmp_path):
    path = tmp_path / "machine.json"
    path.write_text('{"name": "x", "gpus_per_host": 4}')
    expect_error(staghorn("plan", "--lattice", "8x8x8x8", "--machine", path), 1, "machine.json", "stream_gb_s", "none")


def test_time_of_each_built_in_machine_is_that_of_its_stream(plan):
    streams = {name: plan("--lattice", "32", "32", "32", "64", "--machine", name)["machine"]["stream_gb_s"] for name in ("h200", "h100", "a100", "b200")}
    assert streams["a100"] < streams["h100"] < streams["h200"] < streams["b200"]


def test_an_unknown_machine_is_refused_with_the_names_there_are(staghorn, expect_error):
    expect_error(staghorn("plan", "--lattice", "8x8x8x8", "--machine", "h300"), 1, "machine", "h200, h100, a100, b200, here, or a file", "'h300'")
