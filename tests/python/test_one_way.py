"""One way in: Session and Gauge give the same bits and the same report for the same request, on one process and on ranks."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import staghorn
from python_processes import needs_mpi4py, python
from staghorn import reference

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

PROGRAM = Path(__file__).parent / "one_way_requests.py"
RATIONAL_FILE = "order_MD 2\nres_MD 1\nres_MD 2\nres_MD 0.5\npole_MD 99.9\npole_MD 0.3\npole_MD 2\n"
# What no two solves have alike.
OF_THE_RUN = {"seconds", "times", "memory_bytes", "predicted_memory_bytes", "site_iterations_per_second", "provenance", "kernels",
              "checkpoint"}
# What ranks change: their cut, and how faces travel.
OF_THE_CUT = {"grid", "local_lattice", "widths", "ranks", "devices", "device", "host", "hosts", "threads", "transport", "transports", "sloppy_transports", "unlike_ranks",
              "communication", "mapping", "placement", "shares"}


def without(report, left_out):
    if isinstance(report, dict):
        return {key: without(value, left_out) for key, value in report.items() if key not in left_out and not key.endswith("seconds")}
    return [without(one, left_out) for one in report] if isinstance(report, list) else report


def answers(lines: str) -> dict[str, list]:
    return {found[0]: found[1:] for found in map(json.loads, lines.splitlines())}


@pytest.fixture(scope="module")
def folder(small_gauge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one_way")
    (folder / "rational.txt").write_text(RATIONAL_FILE)
    staghorn.Session(small_gauge, device="cpu").eigen(6, output=folder / "pairs.h5", vectors=False)
    return folder


@pytest.fixture(scope="module")
def of_sessions(small_gauge, folder):
    return answers(python(PROGRAM, "session", small_gauge, folder))


@pytest.fixture(scope="module")
def of_gauges(small_gauge, folder):
    """Its solutions are in gauge.h5 of the folder, too."""
    return answers(python(PROGRAM, "gauge", small_gauge, folder))


def test_gauge_gives_bits_and_report_of_a_session(of_sessions, of_gauges):
    assert list(of_gauges) == list(of_sessions) and len(of_gauges) > 20
    for name, (bits, shape, report) in of_sessions.items():
        assert report["outcome"] == ("out_of_iterations" if name == "out of iterations" else "certified"), name
        assert of_gauges[name][:2] == [bits, shape], name
        assert without(of_gauges[name][2], OF_THE_RUN) == without(report, OF_THE_RUN), name
    written = [found["checkpoint"][2]["checkpoint"]["written"] for found in (of_sessions, of_gauges)]
    assert written[0] == written[1] > 10


@needs_mpi4py
@pytest.mark.mpi
def test_ranks_give_bits_report_and_file_of_one_process(small_gauge, folder, of_sessions, of_gauges):
    ranks = 2
    of_ranks = answers(python(PROGRAM, f"ranks{ranks}", small_gauge, folder, ranks=ranks, timeout=400))
    assert list(of_ranks) == list(of_sessions)
    for name, (bits, shape, report) in of_sessions.items():
        assert of_ranks[name][:2] == [bits, shape], name
        assert of_ranks[name][2]["ranks"] == ranks
        assert without(of_ranks[name][2], OF_THE_RUN | OF_THE_CUT) == without(report, OF_THE_RUN | OF_THE_CUT), name
    assert (folder / "ranks2.h5").read_bytes() == (folder / "gauge.h5").read_bytes()
    written = staghorn.read_vectors(folder / "gauge.h5")[0]
    assert hashlib.sha256(written.tobytes()).hexdigest() == of_sessions["arrays in batches"][0]


@pytest.fixture(scope="module")
def gauge(small_gauge):
    return staghorn.Context(small_gauge, device="cpu").read(small_gauge)


def test_a_report_is_the_dict_of_its_json(small_gauge, gauge, tmp_path):
    _, report = gauge.solve(0.4, "z2:1")
    assert isinstance(report, staghorn.Report) and isinstance(staghorn.solve(small_gauge, 0.4, "z2:1", device="cpu")[1], staghorn.Report)
    assert report["rhs"][0]["iterations"] == report.rhs[0].iterations == report.iterations and report["condensate"]["n_vectors"] == 1
    (tmp_path / "r.json").write_text(json.dumps(report))
    assert staghorn.Report.read(tmp_path / "r.json") == report == pickle.loads(pickle.dumps(report)) == json.loads(report.to_json())


def test_links_and_summary_of_a_gauge_are_those_of_a_session(small_gauge):
    session = staghorn.Session(small_gauge, device="cpu", links=12)
    gauge = staghorn.Context(small_gauge, device="cpu").read(small_gauge, links=12)
    assert np.array_equal(gauge.links, session.links) and gauge.summary["reunitarized"]
    assert gauge.summary["checksums"] == session.gauge["checksums"] != {} and gauge.summary["file"] == str(small_gauge)
    assert session.gauge["link_trace"] == gauge.info.link_trace


def test_options_of_a_context_hold_until_another_is_given(small_gauge):
    context = staghorn.Context(small_gauge, device="cpu", sloppy="fp32", boundary="periodic")
    gauge = context.read(small_gauge)
    report = gauge.solve(0.4, "z2:1")[1]
    assert report["sloppy"] == "fp32" and report["boundary"] == "periodic,periodic,periodic,periodic" and report["outcome"] == "certified"
    assert gauge.solve(0.4, "z2:1", sloppy="fp16")[1]["sloppy"] == "fp16"
    assert gauge.solve(0.4, "z2:1")[1]["sloppy"] == "fp32"
    other = context.read(small_gauge, boundary=(0, 0, 0, 0.5))
    assert other.solve(0.4, "z2:1")[1]["boundary"] == "periodic,periodic,periodic,0.5"
    for refused, call in (("device", lambda: context.read(small_gauge, device="cpu")), ("mass", lambda: staghorn.Context(small_gauge, mass=1)),
                          ("tolerance", lambda: staghorn.Context(small_gauge, tolerance=1e-6)), ("batch", lambda: context.read(small_gauge, batch=3))):
        with pytest.raises(staghorn.Error, match=f"^{refused}: expected it in"):
            call()
    with pytest.raises(TypeError, match="'slopy'. Did you mean 'sloppy'"):
        context.read(small_gauge, slopy="fp32")
    with pytest.raises(TypeError, match=r"mass: expected a number, found \[0.3, 0.4\]; several are `masses`"):
        gauge.solve([0.3, 0.4], "z2:1")


def test_progress_stops_sources_in_words(gauge):
    _, report = gauge.solve(0.02, "z2:1", progress=lambda iteration, ratio: iteration >= 32)
    assert report.outcome == report.rhs[0].outcome == "stopped" and report.iterations == 32
    with pytest.raises(staghorn.Error, match="progress: the job of batches was stopped"):
        gauge.solve(0.02, sources=["z2:1", "z2:2"], batch=1, progress=lambda iteration, ratio: True)
    assert gauge.solve(0.4, "z2:1")[1].certified


def test_a_guess_is_an_array_or_out(gauge):
    x, whole = gauge.solve(0.1, "z2:3")
    b = gauge.solve(0.1, x[0])[0]  # of the shape of one vector
    for arguments in ({"source": b, "guess": x[0]}, {"source": b, "guess": True, "out": x[0].copy()}):
        half = gauge.solve(0.1, **arguments)[1]
        assert half.rhs[0].history[0] != gauge.solve(0.1, b)[1].rhs[0].history[0]
    assert gauge.solve(0.1, "z2:3", guess=x)[1].iterations < 3 < whole.iterations
    with pytest.raises(staghorn.Error, match="^guess: expected shape"):
        gauge.solve(0.1, "z2:3", guess=x[:, 1:])
    with pytest.raises(staghorn.Error, match="^out: expected none with a source in words"):
        gauge.solve(0.1, "z2:3", out=x)


def test_old_names_are_taken_and_warned_of(small_gauge, gauge):
    context = gauge.context
    u = context.read_links(small_gauge)
    even = np.broadcast_to(reference.parity(context.lattice)[..., None, None, None] == 0, u.shape)
    halves = np.stack([u[even].reshape(*u.shape[:3], -1, 4, 3, 3), u[~even].reshape(*u.shape[:3], -1, 4, 3, 3)])
    for old, array in (("milc", halves), ("even-odd", np.ascontiguousarray(np.moveaxis(halves, 5, 0)))):
        with pytest.warns(DeprecationWarning, match=f"order '{old}' is the old name"):
            assert context.gauge(array, order=old).info.hash == gauge.info.hash
    with pytest.warns(DeprecationWarning, match="long_links is the old name of naik_links"):
        made = context.gauge(u, action="hisq", long_links=13)
    with pytest.warns(DeprecationWarning, match="sloppy_links of Naik links is the old name of sloppy_naik_links"):
        old, report = made.solve(0.4, "z2:1", sloppy="fp32", sloppy_links=9)
    assert report["naik_links"] == 13 and report["sloppy_naik_links"] == 9
    assert np.array_equal(old, made.solve(0.4, "z2:1", sloppy="fp32", sloppy_naik_links=9)[0])
