"""A value of a wrong type is an error of Staghorn that names the argument: every argument of every public function, found by introspection."""

from __future__ import annotations

import inspect
import re
import types

import numpy as np
import pytest
import staghorn as sh
from staghorn import analysis, errors, plot, reference

pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")
from staghorn.arguments import kinds_of  # noqa: E402

EXTENTS = (4, 2, 2, 2)
SHAPE = EXTENTS[::-1]
WRONG = {"nothing of use": object(), "number": 1.5, "whole number": 3, "text": "two", "bytes": b"two", "list": [1, "a"], "ragged list": [[1], [2, 3]],
         "dict": {"a": 1}, "large number": 2**80, "larger number": 10**400, "negative number": -1, "complex number": 1j, "function": lambda *_: None,
         "array": np.zeros((2, 2)), "array of texts": np.array(["a"]), "truth": True, "NaN": float("nan")}
# Names of arguments in errors of the library, where they differ.
ALSO = {"array": "links", "gauge": "links", "long": "naik"}
# What a function needs besides its arguments without a default.
WITH = {"Context.__init__": {"lattice": EXTENTS}, "Session.__init__": {"gauge": reference.random_links(EXTENTS, seed=1)}, "staghorn.generate": {"lattice": EXTENTS},
        "staghorn.certify": {"mass": 0.5}, "staghorn.campaign": {"mass": 0.5, "source": "z2:1", "gauge": "no file"}, "staghorn.solve": {"source": "z2:1"},
        "Campaign.merge": {"reports": ["no file"]}, "staghorn.plot.squared_masses": {"masses": {"pion": [analysis.Mass(0.5, 0.1, 1, 2, 3)]}},
        "Gauge.solve": {"source": "z2:1"}, "Session.solve": {"source": "z2:1"}}


@pytest.fixture(scope="module")
def good():
    """Values that are right, by the name of the argument."""
    context = sh.Context(EXTENTS, device="cpu")
    links = reference.random_links(EXTENTS, seed=1)
    gauge, b = context.gauge(links), np.zeros((*SHAPE, 3), complex)
    b[0, 0, 0, 0, 0] = 1
    x, report = gauge.solve(0.5, b)
    campaign = sh.Campaign(campaign={"masses": [0.5], "sources": ["z2:1"], "outcomes": {}}, configurations=[])
    return {"self": {"Campaign": campaign, "Context": context, "Gauge": gauge, "Session": sh.Session(links), "Report": report},
            "lattice": EXTENTS, "array": links, "links": links, "path": "file.h5", "mass": 0.5, "source": b, "shifts": [0.0, 0.1], "pairs": 1,
            "vectors": b, "gauge": links, "solution": x, "reports": report, "report": report, "correlator": [2.0, 1, 0.5, 1], "sweeps": 0,
            "correlators": [[2.0, 1, 0.5, 1]], "samples": [1.0, 2.0], "first": 1, "last": 1, "text": "name", "max_calls": 20, "beta": 6.0,
            "quark_masses": [0.1], "action": "hisq", "name": "pion5", "names": ["pion5"], "masses": [0.5, 0.5],
            "plotted": plot.new_axes()}


def is_public(method):
    return method == "__init__" or not method.startswith("_")


def functions():
    """name -> function, of all that users see."""
    found = {}
    for module in (sh, plot, analysis):
        for name in getattr(module, "__all__", vars(module)):
            one = getattr(module, name)
            if name.startswith("_") or not getattr(one, "__module__", "").startswith("staghorn") or module is analysis and one.__module__ != module.__name__:
                continue
            if not isinstance(one, type):
                found[f"{module.__name__}.{name}"] = one
            elif not issubclass(one, Exception):
                methods = {method: inspect.unwrap(getattr(one, method)) for method in vars(one) if is_public(method)}
                found.update({f"{name}.{method}": getattr(one, method) for method, inner in methods.items()
                              if isinstance(inner, types.FunctionType | types.MethodType) and not (method == "__init__" and hasattr(one, "__dataclass_fields__"))})
    del found["Gauge.__init__"]  # Context makes them
    return found


FUNCTIONS = functions()


def own_parameters(function):
    """Without those of the table of options."""
    inner = inspect.unwrap(function)
    inner = getattr(inner, "__func__", inner)
    kept = {name: one for name, one in vars(inner).items() if name == "__signature__"}
    vars(inner).pop("__signature__", None)
    try:
        return [one for one in inspect.signature(inner).parameters.values() if one.kind is not one.VAR_KEYWORD and one.name not in ("self", "cls")]
    finally:
        vars(inner).update(kept)


def test_all_public_functions_are_seen():
    assert {"Context.__init__", "Context.gauge", "Gauge.solve", "Gauge.multishift", "Session.__init__", "Report.read", "staghorn.campaign", "staghorn.certify",
            "staghorn.plot.residuals", "staghorn.analysis.jackknife"} <= FUNCTIONS.keys()


def test_annotations_are_known():
    for name, function in FUNCTIONS.items():
        for parameter in own_parameters(function):
            assert parameter.annotation is not parameter.empty, (name, parameter)
            kinds_of(parameter.annotation)


def called(public, good, arguments):
    """The function of that public name with these arguments, and right ones for what it needs besides."""
    function, owner = FUNCTIONS[public], public.split(".")[0]
    needed = {one.name: good[one.name] for one in own_parameters(function) if one.default is one.empty}
    needed.update(WITH.get(public, {}))
    if public.endswith("__init__"):
        return getattr(sh, owner)(**{**needed, **arguments})
    this = [] if owner == "staghorn" or inspect.ismethod(function) else [good["self"][owner]]
    return function(*this, **{**needed, **arguments})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_value_is_refused_by_the_name_of_its_argument(good, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    wrong = []
    for argument, annotation in [(one.name, one.annotation) for one in own_parameters(FUNCTIONS[name])]:
        named = re.compile(rf"\b({argument}|{ALSO.get(argument, argument)})\b")
        for what, value in WRONG.items():
            is_of_type = any(kind.accepts(value) for kind in kinds_of(annotation))
            try:
                called(name, good, {argument: value})
                if not is_of_type or what == "nothing of use":
                    wrong.append((argument, what, "was taken"))
            except errors.Error as error:
                if not (named.search(str(error)) or is_of_type and what != "nothing of use"):
                    wrong.append((argument, what, str(error)))
            except Exception as error:
                if not (isinstance(error, OSError) and isinstance(value, (str, bytes))):
                    wrong.append((argument, what, repr(error)))
    assert not wrong
