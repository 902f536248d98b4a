"""Sources that take turns on a GPU have the bits of the CPU, whatever the batch."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.gpu

SOURCES = ["--mass", 0.2, "--sources", "z2:5; point:1,2,3,5; gaussian:6; wall:7; z2:8"]  # nine right-hand sides
REQUESTS = {
    "fp64": ["--sloppy", "none"],
    "fp32 in many passes": ["--precision", "fp32", "--tolerance", 1e-10, "--system", "odd"],
    "mixed fp32": ["--sloppy", "fp32", "--sloppy-links", 18],
    "mixed fp16": ["--sloppy", "fp16", "--links", 12],
    "hisq": ["--sloppy", "fp32", "--action", "hisq"],
    "out of iterations": ["--max-iterations", 37, "--system", "odd", "--sources", "z2:1;z2:2;z2:3"],
}


def requests(batch):
    return {name: [*(SOURCES[:2] if "--sources" in options else SOURCES), *options, "--batch", batch]
            for name, options in REQUESTS.items()}


@pytest.mark.parametrize("form", ["auto", "one", "two"])
def test_sources_take_turns_with_the_bits_of_the_cpu(solve_many, rough_gauge, form):
    host = solve_many(rough_gauge, requests(4), "--device", "cpu")
    for batch in (1, 3):
        device = solve_many(rough_gauge, requests(batch), "--device", "cuda", env={"STAGHORN_CG_KERNELS": form})
        assert device.answers == host.answers and device.statuses == host.statuses == {0, 3}
        for report in device.reports:
            assert report["device"].startswith("cuda") and report["certificate"] == "device" and report["loop"] != "host"
            assert report["batch"]["columns"] == batch and report["batch"]["refills"]
            taken = {name: size for name, size in report["memory_bytes"].items() if name != "peak_resident"}
            assert taken == report["predicted_memory_bytes"]


@pytest.mark.parametrize("cut", ["z", "zt"])
def test_sources_take_turns_on_a_cut_lattice(solve_many, rough_gauge, cut):
    host = solve_many(rough_gauge, requests(4), "--device", "cpu")
    device = solve_many(rough_gauge, requests(3), "--device", "cuda", "--loopback", cut)
    assert device.answers == host.answers
