"""One request on many configurations: the bits of solves alone, what is done stays done, a failure does not stop the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import h5py
import numpy as np
import pytest
from lock_files import lock
from program_under_test import PROGRAM, ROOT
from solve_files import solution_bytes

DATE = {"SOURCE_DATE_EPOCH": "1795199983"}
ASKED = ["--masses", "0.2,0.5", "--sources", "wall:0; z2:7", "--noise-vectors", 2]
NAMES = ["--output", "x_{n:02}_{mass}_{source}.h5", "--report", "r.json", "--results", "r.h5"]


@pytest.fixture(scope="module")
def links(staghorn, tmp_path_factory):
    """Three configurations of 4x6x4x8, q_0001.h5 and so on."""
    folder = tmp_path_factory.mktemp("links")
    staghorn("generate", "--lattice", "4x6x4x8", "--beta", 5.7, "--sweeps", 3, "--save-every", 1, "--save-as", "q_{n:04}.h5", "--quiet",
             cwd=folder, check=True)
    return folder


@pytest.fixture
def folder(links, tmp_path):
    for path in links.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.fixture
def campaign(staghorn, folder):
    """campaign(*options): the three configurations, two masses and two sources, in `folder`."""
    def run(*options, status=0, **how):
        result = staghorn("solve", "--gauge", "q_*.h5", *ASKED, *NAMES, *options, cwd=folder, env=DATE, **how)
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout
    return run


def record(folder):
    return json.loads((folder / "r.json").read_text())


def outcomes(folder):
    return [part["outcome"] for part in record(folder)["configurations"]]


@pytest.mark.mpi
def test_a_campaign_has_the_bits_and_observables_of_solves_alone(staghorn, folder, campaign):
    out = campaign()
    assert "3 configurations, 3 certified" in out and "averages and standard errors over 3 configurations" in out
    ours = record(folder)
    assert ours["outcome"] == "certified" and ours["campaign"]["skipped"] == 0
    with h5py.File(folder / "r.h5") as results:
        assert [name.decode() for name in results["gauge"]] == ["q_0001.h5", "q_0002.h5", "q_0003.h5"]
        assert results["pion_correlator"].shape == (3, 2, 1, 8) and results["condensate"].shape == (3, 2, 1, 2)
        kept = {name: results[name][()] for name in results}
    for k, ranks in ((0, 1), (2, 2)):  # the last on other ranks
        staghorn("solve", "--gauge", f"q_000{k + 1}.h5", *ASKED, "--output", "alone.h5", "--report", "alone.json", "--force", cwd=folder,
                 ranks=ranks, check=True)
        alone = json.loads((folder / "alone.json").read_text())
        whole = solution_bytes(folder / "alone.h5")
        parts = [solution_bytes(folder / f"x_0{k + 1}_{mass}_{source}.h5") for mass in ("0.2", "0.5") for source in ("wall-0", "z2-7")]
        assert whole == b"".join(parts)
        assert kept["plaquette"][k] == alone["gauge"]["plaquette"]
        for mass in range(2):
            wall, noise = alone["sources"][2 * mass], alone["sources"][2 * mass + 1]
            assert kept["pion_correlator"][k, mass, 0].tolist() == wall["pion_correlator"]
            assert kept["condensate"][k, mass, 0].tolist() == noise["condensate"]["values"]
            assert np.isclose(np.mean(noise["condensate"]["values"]), noise["condensate"]["value"], rtol=1e-14)
    # Each file says what it holds.
    with h5py.File(folder / "x_02_0.5_z2-7.h5") as file:
        attributes = file["solution"].attrs
        assert [attributes[name].decode() for name in ("mass", "source", "outcome")] == ["0.5", "z2:7", "certified"]
        assert file["solution"].shape == (2, 8, 4, 6, 4, 3) and len(attributes["residual_true"].decode().split()) == 2


def test_a_second_call_skips_what_is_done_and_solves_the_rest(staghorn, folder, campaign, expect_error):
    (folder / "q_0003.h5").rename(folder / "later.h5")
    campaign()
    first = record(folder)
    times = {path: path.stat().st_mtime_ns for path in folder.glob("x_*")}
    (folder / "later.h5").rename(folder / "q_0003.h5")
    assert campaign().count("by an earlier call") == 2
    second = record(folder)
    assert second["campaign"]["skipped"] == 2 and outcomes(folder) == ["certified"] * 3
    assert second["configurations"][0]["report"] == first["configurations"][0]["report"]
    assert {path: path.stat().st_mtime_ns for path in times} == times
    with h5py.File(folder / "r.h5") as results:
        assert len(results["gauge"]) == 3
    # Another request is no second call.
    expect_error(staghorn("solve", "--gauge", "q_*.h5", *ASKED, *NAMES, "--tolerance", "1e-8", cwd=folder), 1, "r.json", "tolerance",
                 "1e-08", "1e-10", "--force")
    # Links that are others under the same name, and a file that is not complete, are noticed, and nothing is replaced unasked.
    (folder / "q_0001.h5").write_bytes((folder / "q_0002.h5").read_bytes())
    (folder / "x_02_0.2_wall-0.h5").write_bytes(b"")
    out = campaign(status=1)
    assert "q_0001.h5: FAILED: x_01_0.2_wall-0.h5 exists already" in out and "q_0002.h5: FAILED: x_02_0.2_wall-0.h5 exists" in out
    assert outcomes(folder) == ["failed", "failed", "certified"]
    campaign("--force")
    assert record(folder)["campaign"]["skipped"] == 0
    assert solution_bytes(folder / "x_01_0.5_wall-0.h5") == solution_bytes(folder / "x_02_0.5_wall-0.h5")


def test_a_call_that_was_killed_goes_on(folder, campaign):
    """The record says at which configuration a call was at work: its files may be replaced without force."""
    campaign()
    ours = record(folder)
    before = {path.name: path.read_bytes() for path in folder.glob("x_*")}
    ours["configurations"][1].update(outcome="unfinished", report=None)
    (folder / "r.json").write_text(json.dumps(ours))
    assert campaign().count("by an earlier call") == 2
    assert {path.name: path.read_bytes() for path in folder.glob("x_*")} == before


def test_lines_that_a_killed_call_has_added_to_its_report_count(staghorn, folder, campaign, expect_error):
    """A large report is written anew from time to time; what has changed since stands beside it, a line for each change."""
    campaign()
    ours, kept = record(folder), [json.dumps(part) for part in record(folder)["configurations"]]
    for part in ours["configurations"]:
        part.update(outcome="unfinished", report=None, files=[], links_hash=None)
    (folder / "r.json").write_text(json.dumps(ours))
    first = json.dumps({"unfinished_report_of": ours["campaign"]["request"]}, separators=(",", ":"))
    lines = folder / "r.json.unfinished"
    unknown = json.dumps({**ours["configurations"][2], "outcome": "unfinished"})
    lines.write_text("\n".join([first, unknown, *kept[:2], kept[2][:-9]]))  # the last one is torn
    (folder / "x_03_0.2_wall-0.h5").unlink()
    for name in ("0.2_z2-7", "0.5_wall-0", "0.5_z2-7"):
        (folder / f"x_03_{name}.h5").unlink()
    assert campaign().count("by an earlier call") == 2
    assert outcomes(folder) == ["certified"] * 3 and not lines.exists()
    # A file of that name that is something else is left alone.
    lines.write_text("mine")
    expect_error(staghorn("solve", "--gauge", "q_*.h5", *ASKED, *NAMES, cwd=folder), 1, "r.json.unfinished", "something else")
    assert lines.read_text() == "mine"


def test_a_call_beside_another_leaves_its_record_alone(staghorn, folder, campaign, expect_error):
    campaign()
    before = (folder / "r.json").read_bytes()
    lock(folder / "r.json")
    expect_error(staghorn("solve", "--gauge", "q_*.h5", *ASKED, *NAMES, cwd=folder), 1, "r.json", f"process {os.getpid()}")
    assert (folder / "r.json").read_bytes() == before


@pytest.mark.parametrize("quiet", [["--quiet"], ["--report", "-"]])
def test_quiet_calls_tell_errors(staghorn, folder, quiet):
    damaged = bytearray((folder / "q_0002.h5").read_bytes())
    damaged[9000] ^= 1
    (folder / "q_0002.h5").write_bytes(damaged)
    result = staghorn("solve", "--gauge", "q_*.h5", "--mass", 0.5, *quiet, cwd=folder)
    assert result.returncode == 1 and (result.stdout == "") == ("--quiet" in quiet)
    assert result.stderr.startswith("staghorn: error: q_0002.h5: FAILED: q_0002.h5") and result.stderr.count("\n") == 1


def test_a_failure_does_not_stop_the_others_unless_asked(folder, campaign):
    damaged = bytearray((folder / "q_0001.h5").read_bytes())
    damaged[9000] ^= 1
    (folder / "q_0001.h5").write_bytes(damaged)
    out = campaign("--stop-at-failure", status=1)
    assert "q_0001.h5: FAILED: q_0001.h5" in out and outcomes(folder) == ["failed", "unfinished", "unfinished"]
    out = campaign(status=1)
    assert outcomes(folder) == ["failed", "certified", "certified"] and "suma" in record(folder)["configurations"][0]["error"]
    with h5py.File(folder / "r.h5") as results:
        assert [name.decode() for name in results["gauge"]] == ["q_0002.h5", "q_0003.h5"]


def test_what_does_not_converge_shows_in_outcome_and_status(folder, campaign):
    campaign("--max-iterations", 20, status=3)
    assert record(folder)["outcome"] == "out_of_iterations" and not (folder / "x_01_0.2_wall-0.h5").stat().st_size == 0
    campaign("--max-iterations", 20, "--force", "--stop-at-failure", status=3)
    assert outcomes(folder) == ["out_of_iterations", "unfinished", "unfinished"]


def test_improved_quarks_and_mixed_precision_do_not_depend_on_earlier_links(staghorn, folder):
    """Links that follow others are treated as those of a fresh session: HISQ, with forms of Naik links that are chosen."""
    asked = ["--action", "hisq", "--sloppy", "fp32", "--mass", "0.3", "--source", "z2:5", "--batch", 1]
    staghorn("solve", "--gauge", "q_0001.h5; q_0002.h5", *asked, "--output", "h_{gauge}.h5", cwd=folder, check=True)
    staghorn("solve", "--gauge", "q_0002.h5", *asked, "--output", "alone.h5", cwd=folder, check=True)
    assert solution_bytes(folder / "h_q_0002.h5") == solution_bytes(folder / "alone.h5")


@pytest.mark.parametrize("options, status, words", [
    (["--gauge", "q_*.h5", "--mass", 1, "--output", "x.h5"], 1, ["--output", "{gauge}", "'x.h5' twice"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--output", "x_{k}.h5"], 1, ["--output", "{gauge}, {mass}, {n}, {source}", "{k}"]),
    (["--gauge", "p_*.h5", "--mass", 1], 1, ["--gauge", "p_*.h5", "none"]),
    (["--gauge", "q_0001.h5;nowhere.h5", "--mass", 1], 1, ["--gauge", "nowhere.h5"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--guess", "x.h5"], 2, ["--guess", "single configuration"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--chronological", 2], 1, ["--chronological", "single batch"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--eigenvectors", "e.h5"], 1, ["--eigenvectors", "{gauge} or {n}"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--eigenpairs", 4], 2, ["--eigenpairs", "--eigenvectors"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--report", "{gauge}.json", "--results", "r.h5"], 1, ["--results", "merge"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--report", "{gauge}.json", "--force"], 1, ["--force", "share"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--output", "x_{n}.h5", "--checkpoint", "c.h5"], 1, ["--checkpoint", "{gauge} or {n}"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--output", "x_{n}.scidac"], 2, ["--output", "HDF5"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--sources", "point:9,0,0,0"], 1, ["point:9,0,0,0"]),
    (["--gauge", "q_0001.h5", "--mass", 1, "--stop-at-failure"], 2, ["--stop-at-failure", "several"]),
    (["--gauge", "q_*.h5", "--mass", 1, "--report", "q_0002.h5"], 1, ["q_0002.h5", "expected the report of several configurations"]),
])
def test_what_makes_no_sense_is_refused_before_anything_is_solved(staghorn, links, expect_error, options, status, words):
    expect_error(staghorn("solve", *options, cwd=links), status, *words)
    assert len(list(links.iterdir())) == 3


def test_mesons_and_baryons_of_a_campaign_are_tables_of_the_results(folder, campaign):
    campaign("--mesons", "pion5,rhox:p100", "--baryons", "nucleon,delta")
    parts, baryons = ([part["report"][kind] for part in record(folder)["configurations"]] for kind in ("mesons", "baryons"))
    with h5py.File(folder / "r.h5") as results:
        np.testing.assert_array_equal(results["baryons"], [[baryon["values"] for baryon in part] for part in baryons])
        assert results["baryons"].shape == (3, 8 + 2, 8, 2)
        np.testing.assert_array_equal(results["baryon_masses"], [baryon["masses"] for baryon in baryons[0]])
        assert [word.decode() for word in results["baryon_name"]] == [baryon["name"] for baryon in baryons[0]]
        np.testing.assert_array_equal(results["mesons"], [[meson["values"] for meson in part] for part in parts])
        assert results["mesons"].shape == (3, 8, 8, 2)  # two mesons, two masses of either quark, one wall, eight time slices
        for name in ("name", "source", "quark_source", "symmetry"):
            assert [word.decode() for word in results[f"meson_{name}"]] == [meson[name] for meson in parts[0]]
        for name in ("momentum", "masses"):
            np.testing.assert_array_equal(results[f"meson_{name}"], [meson[name] for meson in parts[0]])
    campaign("--mesons", "pion5", status=1)  # the record is one of another request


def shared(staghorn, folder, *options, gauge="q_*.h5", output="x_{n:02}_{mass}_{source}.h5", report="r_{n}.json"):
    return staghorn("solve", "--gauge", gauge, *ASKED, "--output", output, "--report", report, *options, cwd=folder, env=DATE)


@pytest.mark.mpi
def test_jobs_share_a_campaign_and_their_reports_merge_into_that_of_one(staghorn, folder, campaign, tmp_path_factory, expect_error):
    """A job leaves the configuration whose report another one has locked, and takes it when that lock is gone."""
    campaign("--mesons", "pion5")
    with h5py.File(folder / "r.h5") as results:
        alone = {name: results[name][()] for name in results}
    before = record(folder)
    solutions = {path.name: path.read_bytes() for path in folder.glob("x_*")}
    for name in solutions:
        (folder / name).unlink()
    held = lock(folder / "r_2.json")
    first = shared(staghorn, folder, "--mesons", "pion5")
    assert first.returncode == 0 and f"q_0002.h5: left to another job: the lock of process {os.getpid()}" in first.stdout
    assert not (folder / "r_2.json").exists() and len(list(folder.glob("x_*"))) == 8
    held.unlink()
    second = shared(staghorn, folder, "--mesons", "pion5", gauge="q_0002.h5; q_0001.h5; q_0003.h5")
    assert second.returncode == 0 and second.stdout.count("by an earlier call") == 2
    assert {path.name: path.read_bytes() for path in folder.glob("x_*")} == solutions
    merged = staghorn("campaign", "merge", "r_1.json", "r_2.json", "r_3.json", "--report", "all.json", "--results", "all.h5", cwd=folder)
    assert merged.returncode == 0 and "3 configurations, 3 certified" in merged.stdout and "pion5 0.2" in merged.stdout
    ours = json.loads((folder / "all.json").read_text())
    assert ours["outcome"] == "certified" and ours["campaign"]["request"] == before["campaign"]["request"]
    for part, one in zip(ours["configurations"], before["configurations"], strict=True):
        assert part["gauge"] == one["gauge"] and part["report"]["sources"] == one["report"]["sources"]
    with h5py.File(folder / "all.h5") as results:
        assert set(results) == set(alone)
        for name, values in alone.items():
            np.testing.assert_array_equal(results[name][()], values)
    # The merged report is the record of a campaign: a second call goes on from it.
    result = staghorn("solve", "--gauge", "q_*.h5", *ASKED, "--mesons", "pion5", *NAMES[:2], "--report", "all.json", cwd=folder)
    assert result.stdout.count("by an earlier call") == 3
    # Reports of another request are not merged, nor of other links.
    shared(staghorn, folder, "--mesons", "pion5", "--tolerance", "1e-8", output="y_{n}_{mass}_{source}.h5", report="other_{n}.json")
    expect_error(staghorn("campaign", "merge", "r_1.json", "other_1.json", cwd=folder), 1, "other_1.json", "tolerance", "1e-08")
    changed = json.loads((folder / "r_1.json").read_text())
    changed["configurations"][0]["links_hash"] = "0" * 16
    (folder / "changed.json").write_text(json.dumps(changed))
    expect_error(staghorn("campaign", "merge", "r_1.json", "changed.json", cwd=folder), 1, "changed.json", "links of q_0001.h5")


def test_a_report_of_another_configuration_is_not_replaced(staghorn, folder, expect_error):
    shared(staghorn, folder, gauge="q_0001.h5")
    (folder / "r_1.json").rename(folder / "r_2.json")
    expect_error(shared(staghorn, folder), 1, "r_2.json", "q_0002.h5", "q_0001.h5")


def test_eigenvectors_of_each_configuration_are_made_where_they_are_not_there(staghorn, folder):
    asked = ["--mass", 0.05, "--sources", "z2:{n}; wall:0", "--noise-vectors", 2]
    names = ["--eigenvectors", "E_{gauge}.h5", "--output", "d_{gauge}.h5"]
    staghorn("eigen", "--gauge", "q_0002.h5", "--pairs", 6, "--output", "E_q_0002.h5", cwd=folder, env=DATE, check=True)
    given = (folder / "E_q_0002.h5").read_bytes()
    result = staghorn("solve", "--gauge", "q_*.h5", *asked, *names, "--eigenpairs", 6, "--report", "e.json", cwd=folder, env=DATE)
    assert result.returncode == 0, result.stderr
    assert (folder / "E_q_0002.h5").read_bytes() == given
    parts = json.loads((folder / "e.json").read_text())["configurations"]
    assert [part["report"]["deflation"]["pairs"] for part in parts] == [6, 6, 6]
    # The same bits as those of single calls, of which one finds the pairs by itself.
    staghorn("eigen", "--gauge", "q_0001.h5", "--pairs", 6, "--output", "again.h5", cwd=folder, env=DATE, check=True)
    assert (folder / "again.h5").read_bytes() == (folder / "E_q_0001.h5").read_bytes()
    staghorn("solve", "--gauge", "q_0003.h5", "--mass", 0.05, "--sources", "z2:3; wall:0", "--noise-vectors", 2, "--eigenvectors", "new.h5",
             "--eigenpairs", 6, "--output", "alone.h5", cwd=folder, env=DATE, check=True)
    assert (folder / "new.h5").read_bytes() == (folder / "E_q_0003.h5").read_bytes()
    assert solution_bytes(folder / "alone.h5") == solution_bytes(folder / "d_q_0003.h5")


def test_the_slurm_script_of_many_configurations_shares_them_among_its_processes(folder):
    """configs/many.slurm, with an srun that starts the command here."""
    (folder / "configurations").mkdir()
    for path in folder.glob("q_*.h5"):
        path.rename(folder / "configurations" / path.name)
    script = (ROOT / "configs" / "many.slurm").read_text()
    assert "configurations/*.lime" in script
    (folder / "many.slurm").write_text(script.replace("*.lime", "*.h5"))
    (folder / "run.ini").write_text("mass = 0.5\nsource = wall:0\n")
    shim = folder / "srun"
    shim.write_text('#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nexec "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{PROGRAM.parent}:{os.environ['PATH']}", "SLURM_CPUS_PER_TASK": "1", "SLURM_NTASKS": "2",
                   "SLURM_JOB_ID": "7"}
    for expected in (0, 3):  # the second job finds all done
        result = subprocess.run(["bash", "many.slurm"], cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
        logs = "".join(path.read_text() for path in folder.glob("job-7-*.log"))
        assert result.returncode == 0 and "3 configurations, 3 certified" in result.stdout, result.stderr + logs
        assert len(list((folder / "reports").glob("*.json"))) == len(list((folder / "solutions").glob("*.h5"))) == 3
        assert logs.count("by an earlier call") >= expected
