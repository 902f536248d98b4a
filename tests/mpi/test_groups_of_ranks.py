"""`--split N`: groups of ranks share the sources of a job, or its configurations. Any number of groups gives the same bytes, the
same observables and the same report but for times and what names machine and grid. A group that fails loses its part to others."""

from __future__ import annotations

import json

import h5py
import pytest

pytestmark = pytest.mark.mpi

DATE = {"SOURCE_DATE_EPOCH": "1795199983"}
# What a report says of machine, time, memory, and of how columns were filled.
OF_THE_MACHINE = {"seconds", "times", "times_of_one_hop_in", "memory_bytes", "predicted_memory_bytes", "provenance", "ranks",
                  "threads", "grid", "local_lattice", "widths", "hosts", "mapping", "face_share_within_hosts", "transport",
                  "transports", "sloppy_transports", "devices", "split", "site_iterations_per_second", "batch", "tuning",
                  "sloppy_tuning", "checkpoint"}
REQUESTS = {
    "at once": ["--mass", 0.2, "--sloppy", "none", "--source", "z2:7", "--noise-vectors", 4],
    "mixed": ["--mass", 0.2, "--source", "z2:7", "--noise-vectors", 5, "--batch", 2],
    "list": ["--mass", 0.2, "--sources", "z2:1; point:0,1,2,3; wall:5; corner-wall:2", "--noise-vectors", 2],
    "one wall": ["--mass", 0.2, "--sloppy", "none", "--source", "wall:3", "--mesons", "pion5,rhox"],
    "pairs": ["--mass", 0.2, "--sources", "point:0,0,0,0; wall:0", "--mesons", "pion5", "--pairs", "0:1,1:0"],
    "baryons": ["--mass", 0.2, "--sources", "point:0,0,0,0; wall:0", "--baryons", "nucleon"],
    "masses": ["--masses", "0.2,0.4", "--sources", "z2:1; wall:2; z2:3", "--batch", 2, "--mesons", "pion5"],
    "block": ["--mass", 0.2, "--solver", "block", "--source", "gaussian:3", "--noise-vectors", 6, "--batch", 3],
    "hisq": ["--action", "hisq", "--masses", "0.2:0.1,0.4", "--sources", "z2:1; z2:2", "--batch", 1],
    "even": ["--mass", 0.2, "--system", "even", "--phases", "milc", "--sources", "z2:1; z2:2; point:0,0,0,0"],
}
SPLITS = [(2, 2), (4, 2), (3, 3)]  # ranks, groups


class Jobs:
    """Runs a request with and without groups, in one folder."""

    def __init__(self, staghorn, gauge, folder):
        self.staghorn, self.gauge, self.folder = staghorn, gauge, folder

    def run(self, name, *options, ranks=1, env=None, status=0):
        files = [self.folder / f"{name}.h5", self.folder / f"{name}.json"]
        done = self.staghorn("solve", "--gauge", self.gauge, *options, "--output", files[0], "--report", files[1], "--force",
                             ranks=ranks, env={**DATE, **(env or {})})
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def bytes(self, name):
        return (self.folder / f"{name}.h5").read_bytes()

    def report(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def assert_same(self, split, whole):
        assert self.bytes(split) == self.bytes(whole)
        found, expected = self.report(split), self.report(whole)
        for name in OF_THE_MACHINE:
            found.pop(name, None), expected.pop(name, None)
        assert found == expected


@pytest.fixture
def jobs(staghorn, small_gauge, tmp_path):
    return Jobs(staghorn, small_gauge, tmp_path)


@pytest.mark.parametrize("request_name", REQUESTS)
def test_any_number_of_groups_gives_the_same_bytes(jobs, request_name):
    options = REQUESTS[request_name]
    jobs.run("whole", *options)
    for ranks, groups in SPLITS if request_name in ("list", "mixed") else SPLITS[:1]:
        jobs.run("split", *options, "--split", groups, ranks=ranks)
        jobs.assert_same("split", "whole")
        said = jobs.report("split")
        assert said["split"] == {"groups": groups, "ranks_of_each": ranks // groups, "failures": []}
        assert said["ranks"] == ranks and len(said["devices"]) == ranks
