"""Eigenpairs through the C interface: a host's own checks, and the files of the program."""

from __future__ import annotations

DATE = {"SOURCE_DATE_EPOCH": "1795199983"}
EXTENTS = (4, 6, 4, 8)  # of eigenpair_host.c


def test_eigenpairs_of_a_host(staghorn, run_built, tmp_path):
    gauge = tmp_path / "gauge.h5"
    staghorn("generate", "--lattice", *EXTENTS, "--beta", 6, "--sweeps", 5, "--seed", 5, "--device", "cpu", "--output", gauge, check=True)
    result = run_built("eigenpair_host", gauge, tmp_path, threads=1, env=DATE)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
    for name, storage in [("e.h5", "fp64"), ("e16.h5", "fp16")]:
        staghorn("eigen", "--gauge", gauge, "--pairs", 12, "--output", tmp_path / "program.h5", "--storage", storage, "--force",
                 check=True, env=DATE, threads=2)
        assert (tmp_path / name).read_bytes() == (tmp_path / "program.h5").read_bytes()
