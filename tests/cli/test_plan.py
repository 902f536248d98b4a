"""`staghorn plan`: the floor model scales as bytes and latencies do, and memory is that of a solve."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def plan(staghorn, tmp_path):
    """plan(*options, machine={...}) -> its JSON; `machine` replaces values of the built-in one."""

    def run(*options, machine=None):
        arguments = ["plan", "--json", *options]
        if machine is not None:
            built_in = json.loads(staghorn(*arguments, check=True).stdout)["machine"]
            (tmp_path / "machine.json").write_text(json.dumps(built_in | machine))
            arguments += ["--machine", tmp_path / "machine.json"]
        return json.loads(staghorn(*arguments, check=True).stdout)

    return run


def one(plan, *options, **keywords):
    (found,) = plan(*options, **keywords)["plans"]
    return found


NO_LATENCY = dict.fromkeys(("host_latency_us", "network_latency_us", "kernel_latency_us", "phase_latency_us"), 0)


@pytest.mark.parametrize("precision, width", [("fp64", 8), ("fp32", 4)])
@pytest.mark.parametrize("links, rhs", [(18, 1), (12, 1), (12, 5)])
def test_time_of_one_gpu_is_that_of_its_bytes(plan, precision, width, links, rhs):
    """Two passes over the links and 60 reals of vectors a site of one parity."""
    found = one(plan, "--lattice", "32x32x32x64", "--precision", precision, "--links", links, "--rhs", rhs,
                machine=NO_LATENCY | {"stream_gb_s": 1000})
    expected = (16 * links + 60 * rhs) * width * 32**3 * 64 / 2 / 1000e9
    assert found["microseconds"] == pytest.approx(expected * 1e6)
    assert found["efficiency"] == pytest.approx(1)


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
    """A solve on a CPU keeps the same fields on the host, for the objects that do not depend on the layout."""
    gauge = tmp_path / "hot.h5"
    staghorn("generate", "--lattice", 8, 8, 8, 16, "--sweeps", 0, "--output", gauge, check=True)
    taken = solve(gauge=gauge).report["memory_bytes"]
    planned = one(plan, "--lattice", "8x8x8x16")["objects"]
    for name in ("vectors", "certificate_links", "certificate_vectors", "sources_solutions"):
        assert planned[name] == taken[name]


def test_too_large_a_lattice_is_said_not_to_fit_and_what_would(plan, staghorn):
    found = one(plan, "--lattice", "96x96x96x192", "--rhs", 12)
    assert not found["fits"] and found["gpu_bytes"] > 149e9
    assert "right-hand side" in found["would_fit"] and "GPUs" in found["would_fit"]
    text = staghorn("plan", "--lattice", "96x96x96x192", "--rhs", 12, check=True).stdout
    assert "does not fit" in text and found["would_fit"] in text


@pytest.mark.parametrize("arguments, status, words", [
    (["--lattice", "8x8x8x8", "--gpus", "7"], 1, ["process grid", "8x8x8x8", "7 ranks"]),
    (["--lattice", "8x8x8x8", "--grid", "1,1,1,3"], 1, ["process grid", "8x8x8x8", "1x1x1x3"]),
    (["--lattice", "8x8x8x7"], 1, ["8x8x8x7", "even"]),
    (["--lattice", "8x8x8x8", "--gpus", "2", "--grid", "1,1,1,2"], 2, ["--grid", "--gpus"]),
    (["--lattice", "8x8x8x8", "--gpus", "2,...,8"], 2, ["--gpus", "..."]),
    (["--lattice", "8x8x8x8", "--gpus", "none"], 2, ["--gpus", "none"]),
    (["--lattice", "8x8x8x8", "--machine", "missing.json"], 1, ["missing.json"]),
    (["--lattice", "8x8x8x8", "--rhs", "0"], 2, ["--rhs", "1 to 64"]),
    ([], 2, ["lattice", "required"]),
])
def test_impossible_requests_are_refused(staghorn, expect_error, arguments, status, words):
    expect_error(staghorn("plan", *arguments), status, *words)


@pytest.mark.parametrize("change, words", [
    ({"stream_gb_s": 0}, ["stream_gb_s", "positive", "0"]),
    ({"memory_gb": "much"}, ["memory_gb", "much"]),
    ({"colour": 1}, ["colour"]),
    ({"phase_latency_us": None}, ["phase_latency_us"]),
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
