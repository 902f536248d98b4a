"""Improved quarks on GPUs give the CPU's bits: hops and Conjugate Gradient, by every transport and form of the loop. (One GPU,
all forms of links, tiles and cuts: unit/hop_checks.cpp and unit/improved_cg_checks.cpp.)"""

from __future__ import annotations

import math

import h5py
import pytest
from gpus import gpu_count, transport_obstacle

pytestmark = pytest.mark.gpu

FORMS = [("fp64", 18), ("fp64", 9), ("fp32", 13), ("fp16", 13)]
MASS = 0.2


@pytest.fixture
def lines(run_built):
    """lines(gauge, precision, naik, kernels, ...) -> {(what, right-hand side): text} of what improved_hops printed."""

    def run(gauge, precision, naik, kernels, n_rhs=1, grid=(1, 1, 1, 1), choice="auto"):
        result = run_built("improved_hops", gauge, "hisq", *grid, precision, naik, kernels, n_rhs, MASS, ranks=math.prod(grid),
                           env={"STAGHORN_CG_KERNELS": choice})
        obstacle = transport_obstacle(result.stdout + result.stderr)
        if any(name in obstacle for name in ("nccl", "cuda-aware")):
            pytest.skip(obstacle)
        assert result.returncode == 0, result.stdout + result.stderr
        words = [line.split() for line in result.stdout.splitlines()]
        return {(what, int(rhs)): text for what, rhs, text in words}

    return run


@pytest.mark.parametrize("action", [("asqtad", "--u0", 0.87), ("hisq", "--naik-epsilon", -0.1)])
def test_smear_makes_the_links_of_the_cpu(staghorn, gauge_to_cut, tmp_path, action):
    written = {}
    for device in ("cpu", "cuda", "auto"):
        files = [tmp_path / f"{kind}_{device}.h5" for kind in ("fat", "long")]
        run = staghorn("smear", "--gauge", gauge_to_cut, "--action", *action, "--device", device, "--fat", files[0],
                       "--long", files[1], check=True)
        assert ("cuda:0 (" in run.stdout) == (device != "cpu")
        written[device] = [h5py.File(file)["links"][...].tobytes() for file in files]
    assert written["cuda"] == written["cpu"] == written["auto"]


def answer(found):
    return {key: text for key, text in found.items() if key[0] != "form"}


@pytest.mark.parametrize("precision, naik", FORMS)
@pytest.mark.parametrize("n_rhs, choice, form", [(1, "one", "one_kernel"), (1, "two", "two_kernels"), (4, "auto", "two_kernels"),
                                                 (16, "auto", "two_kernels")])
def test_a_gpu_has_the_bits_of_the_cpu(lines, gauge_to_cut, precision, naik, n_rhs, choice, form):
    found = lines(gauge_to_cut, precision, naik, "cuda", n_rhs, choice=choice)
    assert found["form", 0] == form
    assert answer(found) == answer(lines(gauge_to_cut, precision, naik, "auto", n_rhs))


@pytest.mark.parametrize("precision, naik", FORMS)
@pytest.mark.parametrize("transport, grid", [("staged", (1, 1, 1, 2)), ("staged", (2, 1, 1, 2)), ("p2p", (1, 1, 1, 2)), ("p2p", (1, 1, 2, 2)),
                                             ("nccl", (1, 1, 1, 2)), ("nccl", (2, 1, 2, 1))])
def test_gpus_have_the_bits_of_the_cpu(lines, gauge_to_cut, precision, naik, transport, grid):
    ranks = math.prod(grid)
    if transport != "staged" and ranks > gpu_count():
        pytest.skip(f"{transport} on {ranks} ranks needs as many GPUs, there are {gpu_count()}")
    found = lines(gauge_to_cut, precision, naik, f"cuda:{transport}", 2, grid)
    assert found["form", 0] == {"staged": "host", "nccl": "nccl", "p2p": "two_kernels"}[transport]
    assert answer(found) == answer(lines(gauge_to_cut, precision, naik, "auto", 2))
