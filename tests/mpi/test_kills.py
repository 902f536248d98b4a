"""Jobs that are killed at random times go on elsewhere with no bit changed: a few of what tests/kills.py does."""

from __future__ import annotations

import kills
import pytest


@pytest.mark.mpi
@pytest.mark.usefixtures("program")
def test_killed_jobs_end_with_the_bytes_of_one_piece(tmp_path):
    tallies = kills.run(tmp_path, 1, ["batches"], seed=5, in_a_row=1)
    tally = tallies["batches"]
    assert not tally.faults and tally.kills == {"SIGTERM": 1, "SIGKILL": 1} and tally.finished >= 2
