"""`bench exchange` on GPUs: faces beside plain copies of the same bytes, global sums beside those through the host."""

from __future__ import annotations

import json

import pytest
from gpus import transport_obstacle

pytestmark = [pytest.mark.gpu, pytest.mark.alone]


@pytest.fixture
def faces(staghorn, tmp_path):
    """faces(*options, ranks=, extent=16) -> what was measured of faces of extent^3 / 2 sites of 48 bytes, 2 right-hand sides,
    both ways. What any exchange obeys is asserted."""

    def run(*options, ranks=1, extent=16):
        path = tmp_path / "bench.json"
        result = staghorn("bench", "exchange", "--lattice", extent, extent, extent, 8, "--device", "cuda", "--precision", "fp64",
                          "--links", 12, "--rhs", 2, "--seconds", 0.1, "--json", path, *options, ranks=ranks)
        if obstacle := transport_obstacle(result.stderr):
            pytest.skip(obstacle)
        assert result.returncode == 0, result.stderr
        bench = json.loads(path.read_text())
        found = bench["results"][0]["faces"]
        assert found["bytes"] == 2 * extent**3 / 2 * 48 * 2
        assert 1 < found["exchange_microseconds"] < 1e5  # a kernel takes longer than the one, half a second is no exchange
        # Each byte is read and written. No way is faster than a copy within the memory, counted so.
        for name in ("exchange", "stored", "copied"):
            assert found[f"{name}_gb_s"] is None or found[f"{name}_gb_s"] < bench["copy_gb_s"]
        return found

    return run


def check_beside_copies(found, least_share):
    """The kernel that stores faces is a part of the exchange. It stores at `least_share` of the rate of plain copies or more;
    it is not faster than the wire that both use."""
    assert found["exchange_microseconds"] > 0.7 * found["stored_microseconds"]
    assert least_share < found["stored_share_of_copied"] < 1.5


def test_large_faces_that_stay_on_a_gpu_are_stored_as_fast_as_copies(faces):
    found = faces("--loopback", "t", extent=48)
    check_beside_copies(found, 0.4)
    assert found["sum_through_host_microseconds"] is None


def test_large_faces_by_p2p_are_stored_as_fast_as_copies(faces):
    check_beside_copies(faces("--grid", "1,1,1,2", "--transport", "p2p", ranks=2, extent=48), 0.7)


def test_sums_by_p2p_are_timed_beside_the_other_ways(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "p2p", ranks=2)
    assert found["sum_in_kernels_microseconds"] < found["sum_through_host_microseconds"]
    assert found["sum_by_mpi_microseconds"] < found["sum_through_host_microseconds"]


def test_faces_through_the_host_have_no_copies_beside_them(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "staged", ranks=2)
    assert found["exchange_microseconds"] > 0 and found["sum_through_host_microseconds"] > 0
    assert found["stored_microseconds"] is found["copied_microseconds"] is found["sum_in_kernels_microseconds"] is None
