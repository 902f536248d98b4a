"""`--split N`: groups of ranks share the sources of a job, or its configurations. Any number of groups gives the same bytes, the
same observables and the same report but for times and what names machine and grid. A group that fails loses its part to others."""

from __future__ import annotations

import json
import re

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
SPLITS = {"list": [(4, 2), (3, 3)]}  # ranks, groups; of other requests: two groups of one rank


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
        for report in (found, expected):
            for name in ("seconds", "device_seconds"):
                report.get("improved", {}).pop(name, None)
        assert found == expected


@pytest.fixture
def jobs(staghorn, small_gauge, tmp_path):
    return Jobs(staghorn, small_gauge, tmp_path)


@pytest.mark.parametrize("request_name", REQUESTS)
def test_any_number_of_groups_gives_the_same_bytes(jobs, request_name):
    options = REQUESTS[request_name]
    jobs.run("whole", *options)
    for ranks, groups in SPLITS.get(request_name, [(2, 2)]):
        # Where a group has two ranks these share a host: it has no face between hosts.
        jobs.run("split", *options, "--split", groups, ranks=ranks, env={"STAGHORN_RANKS_PER_HOST": str(ranks // groups)})
        jobs.assert_same("split", "whole")
        said = jobs.report("split")
        assert said["split"] == {"groups": groups, "ranks_of_each": ranks // groups, "failures": []}
        assert said["ranks"] == ranks and len(said["devices"]) == ranks
        assert said["hosts"] == groups and said["face_share_within_hosts"] == 1


@pytest.mark.parametrize("request_name", ["list", "baryons", "masses"])
@pytest.mark.parametrize("fault", ["1:1", "2:2"])
def test_what_a_failed_group_has_not_finished_goes_to_others(jobs, request_name, fault):
    options = REQUESTS[request_name]
    jobs.run("whole", *options)
    jobs.run("split", *options, "--split", 2, ranks=2, env={"STAGHORN_FAIL_GROUP": fault})
    jobs.assert_same("split", "whole")
    assert jobs.report("split")["split"]["failures"] == [
        f"group {fault[0]} of 2: STAGHORN_FAIL_GROUP asks for this failure"]


def test_a_file_that_cannot_be_written_ends_all_groups(jobs, expect_error):
    unwritable = jobs.staghorn("solve", "--gauge", jobs.gauge, *REQUESTS["list"], "--split", 2, "--output",
                               jobs.folder / "absent" / "x.h5", ranks=2)
    expect_error(unwritable, 1, "absent")


def test_a_source_that_does_not_converge_is_reported_as_without_groups(jobs):
    options = ["--mass", 0.2, "--sources", "z2:1; z2:2; wall:0", "--max-iterations", 40]
    jobs.run("whole", *options, status=3)
    jobs.run("split", *options, "--split", 3, ranks=3, status=3)
    jobs.assert_same("split", "whole")
    assert [rhs["outcome"] for rhs in jobs.report("split")["rhs"]] == ["out_of_iterations"] * 5


def test_eigenvectors_are_found_by_one_group_and_used_by_all(jobs):
    options = ["--mass", 0.05, "--sources", "z2:1; z2:2; point:0,0,0,0", "--batch", 2, "--eigenpairs", 4, "--exact-low-modes"]
    jobs.run("split", *options, "--eigenvectors", jobs.folder / "pairs.h5", "--split", 2, ranks=2)
    found = (jobs.folder / "pairs.h5").read_bytes()
    jobs.run("whole", *options, "--eigenvectors", jobs.folder / "pairs.h5")
    assert (jobs.folder / "pairs.h5").read_bytes() == found and jobs.bytes("split") == jobs.bytes("whole")
    deflations = [jobs.report(name)["deflation"]["projections"] for name in ("split", "whole")]
    assert deflations[0] == deflations[1] > 0
    assert jobs.report("split")["condensate"] == jobs.report("whole")["condensate"]


@pytest.mark.parametrize("request_name", ["list", "masses"])
def test_each_group_goes_on_from_its_own_checkpoint(jobs, expect_error, request_name):
    options = [*REQUESTS[request_name], "--tolerance", 1e-11]
    state = ["--checkpoint", jobs.folder / "state.h5", "--checkpoint-every", 0, "--keep-checkpoint"]
    jobs.run("whole", *options)
    jobs.run("first", *options, *state, "--split", 2, ranks=2)
    assert {path.name for path in jobs.folder.glob("state.h5.?of?")} == {"state.h5.1of2", "state.h5.2of2"}
    for groups, ranks in ((3, 3), (1, 1)):
        refused = jobs.staghorn("solve", "--gauge", jobs.gauge, *options, *state, "--resume", "--split", groups, "--output",
                                jobs.folder / "other.h5", ranks=ranks)
        expect_error(refused, 1, "state.h5.", "of2", "of 2 groups")
    unfinished = jobs.folder / "split.h5.unfinished"
    unfinished.write_bytes(b"of an earlier job")
    again = jobs.staghorn("solve", "--gauge", jobs.gauge, *options, *state, "--split", 2, "--output", jobs.folder / "split.h5",
                          ranks=2)
    expect_error(again, 1, "state.h5.1of2 exists already", "--resume")
    assert unfinished.read_bytes() == b"of an earlier job"
    jobs.run("split", *options, *state, "--resume", "--split", 2, ranks=2)
    jobs.assert_same("split", "whole")
    assert jobs.report("split")["checkpoint"]["resumed_from"].endswith("state.h5.1of2")


def test_what_an_earlier_job_left_is_not_in_the_file(jobs):
    (jobs.folder / "split.h5.unfinished").write_bytes(bytes(10_000_000))
    jobs.run("whole", *REQUESTS["list"])
    jobs.run("split", *REQUESTS["list"], "--checkpoint", jobs.folder / "state.h5", "--split", 2, ranks=2)
    jobs.assert_same("split", "whole")
    assert not list(jobs.folder.glob("state.h5*"))


REFUSED = {
    "ranks": (["--mass", 0.2, "--sources", "z2:1; z2:2"], 3, 2, 2, "--split", "divides"),
    "one source": (["--mass", 0.2, "--source", "z2:1"], 2, 2, 1, "--split", "one source cannot be split"),
    "more groups than pieces": (["--mass", 0.2, "--sources", "z2:1; z2:2"], 3, 3, 1, "at most 2 groups"),
    "shared updates": (["--mass", 0.2, "--source", "z2:1", "--noise-vectors", 4], 2, 2, 1, "mixed precision", "--batch"),
    "one batch": (["--masses", "0.2,0.4", "--sources", "z2:1; z2:2"], 2, 2, 1, "a smaller --batch"),
    "colours": (["--mass", 0.2, "--source", "wall:0", "--batch", 3, "--baryons", "nucleon"], 2, 2, 1, "stay together"),
    "rational": (["--rational", "f.txt", "--source", "z2:1"], 2, 2, 2, "--rational"),
    "shares": (["--mass", 0.2, "--sources", "z2:1; z2:2", "--shares", "auto"], 2, 2, 2, "--shares auto"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_split_is_refused_with_what_would_help(staghorn, small_gauge, expect_error, case):
    options, ranks, groups, status, *words = REFUSED[case]
    expect_error(staghorn("solve", "--gauge", small_gauge, *options, "--split", groups, ranks=ranks), status, *words)


def test_memory_of_all_groups_counts(staghorn, small_gauge, expect_error):
    """What one group takes fits into this memory of the host, what two take does not."""
    request = ["solve", "--gauge", small_gauge, "--mass", 0.2, "--sources", "z2:1; z2:2", "--sloppy", "none"]

    def within(megabytes, *options, ranks=1):
        return staghorn(*request, *options, ranks=ranks, env={"STAGHORN_HOST_MEMORY": f"{megabytes * 1e6:.0f}"})

    taken = float(re.search(r"would take ([\d.]+) MB", expect_error(within(0.1), 1, "memory")).group(1))
    assert within(1.5 * taken).returncode == 0
    expect_error(within(1.5 * taken, "--split", 2, ranks=2), 1, "memory", f"{taken} MB")
    assert within(3 * taken, "--split", 2, ranks=2).returncode == 0


def test_groups_take_configurations_in_turn(staghorn, expect_error, tmp_path):
    for seed in (1, 2, 3):
        staghorn("generate", "--lattice", 4, 4, 4, 8, "--seed", seed, "--output", tmp_path / f"q_{seed}.h5", check=True)
    request = ["solve", "--gauge", tmp_path / "q_*.h5", "--mass", 0.2, "--sources", "z2:1; wall:0"]
    files = {name: ["--output", tmp_path / f"{name}_{{gauge}}.h5", "--report", tmp_path / f"{name}_{{gauge}}.json"]
             for name in ("split", "whole", "none")}
    staghorn(*request, *files["whole"], env=DATE, check=True)
    done = staghorn(*request, *files["split"], "--split", 2, ranks=2, env=DATE, check=True)
    assert "3 configurations, 3 certified" in done.stdout
    for seed in (1, 2, 3):
        split, whole = (tmp_path / f"{name}_q_{seed}.h5" for name in ("split", "whole"))
        assert split.read_bytes() == whole.read_bytes()
    expect_error(staghorn(*request, *files["none"], "--split", 4, ranks=4), 1, "at most one group for each of 3")
    expect_error(staghorn(*request, "--report", tmp_path / "r.json", "--split", 2, ranks=2), 2, "--report", "{gauge}")
