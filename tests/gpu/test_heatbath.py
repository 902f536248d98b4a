"""Configurations made on the GPU are the files that the CPU writes, to the last byte."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.gpu


def generate(staghorn, path, device, lattice, *options):
    """The bytes of the file that `generate` writes on `device`, and the plaquettes that it prints."""
    run = staghorn("generate", "--lattice", *lattice, "--device", device, "--output", path, *options, check=True,
                   env={"SOURCE_DATE_EPOCH": "0"})
    assert ("cuda:" in run.stdout.splitlines()[0]) == device.startswith("cuda")
    return path.read_bytes(), re.findall(r"^sweep +\d+ +plaquette.*", run.stdout, re.MULTILINE)


def assert_same(staghorn, folder, lattice, *options):
    on_cpu = generate(staghorn, folder / "cpu", "cpu", lattice, *options)
    on_gpu = generate(staghorn, folder / "gpu", "cuda", lattice, *options)
    assert on_gpu == on_cpu


@pytest.mark.parametrize("lattice", [(4, 6, 8, 10), (2, 2, 2, 2), (10, 2, 4, 6), (16, 8, 8, 4)],
                         ids=lambda lattice: "x".join(map(str, lattice)))
@pytest.mark.parametrize("start", ["hot", "cold"])
def test_gpu_writes_the_file_of_the_cpu(staghorn, tmp_path, start, lattice):
    assert_same(staghorn, tmp_path, lattice, "--start", start, "--beta", 5.7, "--sweeps", 5, "--seed", 9,
                "--measure-every", 1)


# Small couplings draw by the other branch of the heatbath, a large one freezes.
@pytest.mark.parametrize("beta, overrelaxation", [(0, 1), (0.4, 0), (0.4, 7), (3, 1), (6.2, 0), (1000, 2)])
def test_gpu_writes_the_file_of_the_cpu_at_any_coupling(staghorn, tmp_path, beta, overrelaxation):
    assert_same(staghorn, tmp_path, (4, 6, 8, 10), "--beta", beta, "--sweeps", 3, "--seed", 2**63 + 5,
                "--overrelaxation", overrelaxation)


@pytest.mark.parametrize("start", ["hot", "cold"])
def test_starts_have_the_bytes_of_the_cpu(staghorn, tmp_path, start):
    assert_same(staghorn, tmp_path, (4, 6, 8, 10), "--start", start, "--format", "nersc", "--seed", 4)


def test_gpu_refuses_a_number_beyond_the_last(staghorn, tmp_path):
    result = staghorn("generate", "--lattice", 4, 4, 4, 4, "--device", "cuda:99", "--output", tmp_path / "f.h5")
    assert result.returncode == 1 and "GPUs" in result.stderr
    assert not (tmp_path / "f.h5").exists()


@pytest.mark.mpi
def test_gpu_refuses_a_cut_lattice_and_auto_takes_the_cpu(staghorn, tmp_path):
    options = ("--lattice", 4, 4, 4, 8, "--output", tmp_path / "f.h5")
    result = staghorn("generate", *options, "--device", "cuda", ranks=2)
    assert result.returncode == 1 and "uncut lattice" in result.stderr
    assert ": cpu," in staghorn("generate", *options, ranks=2, check=True).stdout
