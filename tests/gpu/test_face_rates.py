"""`bench exchange` on GPUs: faces beside plain copies of the same bytes, global sums beside those through the host."""

from __future__ import annotations

import json

import pytest
from gpus import transport_obstacle

pytestmark = [pytest.mark.gpu, pytest.mark.alone]


@pytest.fixture
def faces(staghorn, tmp_path):
    """faces(*options, ranks=) -> what was measured of faces of 16^3 / 2 sites of 48 bytes, 2 right-hand sides, both ways."""

    def run(*options, ranks=1):
        path = tmp_path / "bench.json"
        result = staghorn("bench", "exchange", "--lattice", 16, 16, 16, 8, "--device", "cuda", "--precision", "fp64",
                          "--links", 18, "--rhs", 2, "--seconds", 0.1, "--json", path, *options, ranks=ranks)
        if obstacle := transport_obstacle(result.stderr):
            pytest.skip(obstacle)
        assert result.returncode == 0, result.stderr
        found = json.loads(path.read_text())["results"][0]["faces"]
        assert found["bytes"] == 2 * 16**3 / 2 * 48 * 2
        return found

    return run


def check_rates(found):
    for name in ("exchange", "stored", "copied"):
        rate = found["bytes"] / found[f"{name}_microseconds"] * 1e-3
        assert found[f"{name}_gb_s"] == pytest.approx(rate)
    assert found["exchange_microseconds"] > 0.7 * found["stored_microseconds"]  # which is a part of it
    assert 0.2 < found["stored_share_of_copied"] < 5


def test_faces_that_stay_on_a_gpu_are_timed_beside_copies(faces):
    found = faces("--loopback", "t")
    check_rates(found)
    assert found["sum_through_host_microseconds"] is None


def test_faces_and_sums_by_p2p_are_timed_beside_the_other_ways(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "p2p", ranks=2)
    check_rates(found)
    assert found["sum_in_kernels_microseconds"] < found["sum_through_host_microseconds"]
    assert found["sum_by_mpi_microseconds"] < found["sum_through_host_microseconds"]


def test_faces_through_the_host_have_no_copies_beside_them(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "staged", ranks=2)
    assert found["exchange_microseconds"] > 0 and found["sum_through_host_microseconds"] > 0
    assert found["stored_microseconds"] is found["copied_microseconds"] is found["sum_in_kernels_microseconds"] is None
