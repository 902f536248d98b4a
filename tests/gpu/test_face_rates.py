"""`bench exchange` on GPUs: faces beside plain copies of the same bytes, global sums beside those through the host. Which of them is
faster, `./dev measure --compare` tells."""

from __future__ import annotations

import json

import pytest
from gpus import transport_obstacle

pytestmark = pytest.mark.gpu


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
        for name in ("exchange", "stored", "copied"):
            if found[f"{name}_gb_s"] is not None:
                assert found[f"{name}_gb_s"] == pytest.approx(found["bytes"] / found[f"{name}_microseconds"] * 1e-3)
        return found

    return run


def check_beside_copies(found):
    """The kernel that stores faces, and plain copies, are timed beside the exchange."""
    assert found["exchange_microseconds"] > 0
    assert found["stored_share_of_copied"] == pytest.approx(found["copied_microseconds"] / found["stored_microseconds"])


def test_faces_that_stay_on_a_gpu_have_copies_beside_them(faces):
    found = faces("--loopback", "t", extent=48)
    check_beside_copies(found)
    assert found["sum_through_host_microseconds"] is None


def test_faces_by_p2p_have_copies_and_three_sums_beside_them(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "p2p", ranks=2)
    check_beside_copies(found)
    assert all(found[f"sum_{way}_microseconds"] > 0 for way in ("in_kernels", "through_host", "by_mpi"))


def test_faces_through_the_host_have_no_copies_beside_them(faces):
    found = faces("--grid", "1,1,1,2", "--transport", "staged", ranks=2)
    assert found["exchange_microseconds"] > 0 and found["sum_through_host_microseconds"] > 0
    assert found["stored_microseconds"] is found["copied_microseconds"] is found["sum_in_kernels_microseconds"] is None
