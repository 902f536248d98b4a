"""One table of options: the command line, .ini files and Python read it alike, and messages name options in the words of each."""

from __future__ import annotations

import inspect
import json
import re

import pytest

staghorn_python = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

OF_THE_PROGRAM_ALONE = {"gauge", "guess", "watchdog", "output", "output_format", "report", "force", "quiet", "config", "help",
                        "results", "stop_at_failure", "keep_checkpoint", "split", "compress"}


EXPERIMENTS = {"slow_device", "inject"}  # which --help does not list


def options_of_solve(staghorn) -> dict[str, str]:
    """Name with underscores -> default as --help shows it."""
    text = staghorn("solve", "--help", check=True).stdout
    return {name.replace("-", "_"): default for name, default in re.findall(r"^  --([\w-]+)(?: [^\n(]*)?(?:\(=([^\n]*?)\))?\s", text, re.MULTILINE)}


def test_python_has_the_options_of_the_program_with_the_same_defaults(staghorn):
    program = options_of_solve(staghorn)
    python = {**inspect.signature(staghorn_python.Session.__init__).parameters,
              **inspect.signature(staghorn_python.Session.solve).parameters}
    named = {name: p.default for name, p in python.items() if p.kind is p.KEYWORD_ONLY}
    assert len(program) > 25
    assert set(program) - OF_THE_PROGRAM_ALONE - {"mass", "source"} == set(named) - {"guess", "progress", "order"} - EXPERIMENTS
    assert EXPERIMENTS <= set(named)
    assert {name: named[name] for name in ("system", "precision", "links", "max_iterations", "color")} == \
        {"system": "full", "precision": "fp64", "links": "18", "max_iterations": None, "color": "all"}
    assert {name: program[name] or None for name in ("system", "precision", "links", "max_iterations", "color")} == \
        {name: named[name] for name in ("system", "precision", "links", "max_iterations", "color")}


def test_python_documents_every_option():
    for function, options in [(staghorn_python.Session, ["sloppy_links", "transport", "blas"]),
                              (staghorn_python.Session.solve, ["tolerance", "noise_vectors", "phases"])]:
        assert all(f"{name} " in function.__doc__ for name in options) and "{" not in function.__doc__
        assert "--" not in function.__doc__


@pytest.fixture(scope="module")
def python_session():
    from staghorn import reference

    return staghorn_python.Session(reference.random_links((4, 4, 2, 6), seed=41))


def message_of(call) -> str:
    with pytest.raises(staghorn_python.Error) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize("name, value, rest", [
    ("max_iterations", "-1", "expected a number of at least 0, found -1"),
    ("max_iterations", "many", "expected a whole number, found 'many'"),
    ("max_iterations", "99999999999999999999", "expected a whole number of size up to 9.22e+18, found '99999999999999999999'"),
    ("tolerance", "2", "expected a relative residual between 0 and 1, found 2"),
    ("tolerance", "1e-5x", "expected a number, found '1e-5x'"),
    ("tolerance", "1e999", "expected a number of size up to 1.8e+308, found '1e999'"),
    ("noise_vectors", "0", "expected a number of at least 1, found 0"),
    ("system", "both", "expected full, even or odd, found 'both'"),
    ("phases", "grid", "expected cps or milc, found 'grid'"),
])
def test_both_doors_name_the_option_and_say_the_same(solve, expect_error, python_session, name, value, rest):
    dashed = "--" + name.replace("_", "-")
    result = solve(dashed, value)
    assert result.returncode in (1, 2)
    expect_error(result, result.returncode, f"{dashed}: {rest}")
    assert message_of(lambda: python_session.solve(0.5, "point:0,0,0,0", **{name: value})) == f"{name}: {rest}"


def test_messages_inside_sentences_name_options_in_the_words_of_each_door(solve, python_session):
    report = solve("--max-iterations", 3, mass=0.01).report
    assert " --max-iterations 3 was the limit." in report["explanation"] and "--guess continues" in report["explanation"]
    report = python_session.solve(0.01, "point:0,0,0,0", max_iterations=3)[1]
    assert " `max_iterations` 3 was the limit." in report["explanation"] and "`guess` continues" in report["explanation"]
    assert "--" not in report["explanation"]


def test_links_near_su3_are_told_of_reunitarize_in_the_words_of_python():
    from staghorn import reference

    message = message_of(lambda: staghorn_python.Session((1 + 1e-4) * reference.random_links((4, 4, 2, 6), seed=41)))
    assert "`reunitarize` projects" in message and "--" not in message
    message = message_of(lambda: staghorn_python.Session(reference.random_links((4, 4, 2, 6), seed=41), precision="fp16"))
    assert "`sloppy` fp16" in message and "--" not in message


@pytest.mark.parametrize("value", [True, "on", 1, 4.5, None])
def test_python_values_become_texts_of_the_table(value):
    from staghorn import reference

    links = reference.random_links((4, 4, 2, 6), seed=41)
    if value in (1, 4.5) and not isinstance(value, bool):
        assert message_of(lambda: staghorn_python.Session(links, reunitarize=value)).startswith("reunitarize: expected on or off")
    else:
        assert staghorn_python.Session(links, reunitarize=value).gauge["reunitarized"] == bool(value)


def test_unknown_keywords_of_python_get_a_hint(python_session):
    with pytest.raises(TypeError, match="'slopy'. Did you mean 'sloppy'"):
        staghorn_python.Session("no file", slopy="fp32")
    with pytest.raises(TypeError, match="'tolerence'. Did you mean 'tolerance'"):
        python_session.solve(0.5, "point:0,0,0,0", tolerence=1e-3)
    with pytest.raises(TypeError, match="'precision'"):  # of a session
        python_session.solve(0.5, "point:0,0,0,0", precision="fp32")


def test_every_door_of_a_request_gives_the_same_report(solve, small_gauge, staghorn, tmp_path, python_session):
    asked = {"mass": "0.7", "system": "odd", "source": "gaussian:3", "noise_vectors": "2", "tolerance": "1e-6", "boundary":
             "periodic,antiperiodic,periodic,0.5", "precision": "fp32", "links": "12", "phases": "milc"}
    line = [word for name, value in asked.items() for word in ("--" + name.replace("_", "-"), value)]
    ini = tmp_path / "run.ini"
    ini.write_text("".join(f"{name.replace('_', '-')} = {value}\n" for name, value in asked.items()))
    reports = []
    for number, options in enumerate([line, ["--config", ini]]):
        path = tmp_path / f"{number}.json"
        staghorn("solve", "--gauge", small_gauge, "--report", path, *options, check=True)
        reports.append(json.loads(path.read_text()))
    mass, source = asked.pop("mass"), asked.pop("source")
    reports.append(staghorn_python.solve(small_gauge, float(mass), source, **asked)[1])
    assert reports[0]["rhs"][0]["iterations"] > 3 and reports[0]["system"] == "odd" and len(reports[0]["rhs"]) == 2
    for name in ("mass", "system", "source", "tolerance", "max_iterations", "boundary", "precision", "links", "conventions", "rhs"):
        assert reports[0][name] == reports[1][name] == reports[2][name]
