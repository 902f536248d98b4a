"""What plots read: a report as a Report, a dict or a JSON file, and words about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Union

from ..errors import Error
from ..paths import PATHS, PathLike, read_json, shown
from ..report import Report

ReportLike = Union[Report, Mapping[str, Any], PathLike]
Reports = Union[ReportLike, Iterable[ReportLike]]


def report_of(report: ReportLike) -> dict[str, Any]:
    """The whole report as a dict, of a Report, a dict, or the path of a JSON file. Raises Error."""
    if isinstance(report, Report):
        return report.to_dict()
    if isinstance(report, Mapping):
        return dict(report)
    if isinstance(report, PATHS):
        try:
            return read_json(report, "a report in JSON")
        except OSError as error:
            if isinstance(error, Error):
                raise
            raise Error(f"{shown(report)}: expected a report in JSON, found {error.strerror}", "file") from error
    raise Error(f"report: expected a Report, a dict or the path of a JSON file, found {type(report).__name__}", "argument")


def reports_of(reports: Reports, name: str, *has: str) -> list[dict[str, Any]]:
    """One report or several. Raises Error where one lacks all the entries `has`, for the plot `name`."""
    listed: Any = [reports] if isinstance(reports, (Report, Mapping, *PATHS)) else reports
    found = [report_of(report) for report in listed]
    if not found:
        raise Error(f"{name}: expected a report at least, found none", "argument")
    for k, report in enumerate(found):
        if has and not any(report.get(entry) for entry in has):
            raise Error(f"{name}: expected {' or '.join(has)} in report {k}, found none", "argument")
    return found


class Series(dict[tuple[Any, str], list[Any]]):
    """What reports say of one observable: (mass, source) -> a value for each configuration."""

    @property
    def labels(self) -> list[str]:
        """What tells the series apart, for a legend."""
        masses, sources = ({key[k] for key in self} for k in (0, 1))
        return [", ".join([*([f"$am$ = {mass:g}"] if len(masses) > 1 else []), *([source] if len(sources) > 1 else [])])
                for mass, source in self]


def configurations_of(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reports of the certified configurations of a campaign; of another report itself."""
    if "configurations" not in report:
        return [dict(report)]
    sources = report["campaign"]["sources"]
    found = []
    for part in report["configurations"]:
        if part["outcome"] != "certified":
            continue
        one = dict(part["report"])
        # {n} and {gauge} in a source stand for each configuration's own.
        one["sources"] = [{**source, "name": sources[k % len(sources)]} for k, source in enumerate(one.get("sources", []))]
        found.append(one)
    return found


def series_of(reports: Reports, name: str, observable: str) -> Series:
    """An observable of reports of one mass or several, of one source or many, and of campaigns, for the plot `name`.

    Reports that differ in neither mass nor source are samples. Raises Error where one has none of it.
    """
    found = Series()
    for k, given in enumerate(reports_of(reports, name)):
        for report in configurations_of(given):
            values = list(_values_of(report, observable))
            if not values:
                raise Error(f"{name}: expected {observable} in report {k}, found none", "argument")
            for mass, source, value in values:
                found.setdefault((mass, source), []).append(value)
    if not found:
        raise Error(f"{name}: expected {observable} of a configuration that is certified, found none", "argument")
    return found


def _values_of(report: Mapping[str, Any], observable: str) -> Iterable[tuple[Any, str, Any]]:
    masses = report.get("masses") or [report.get("mass")]
    if report.get("sources"):
        n = len(report["sources"]) // len(masses)
        listed = [(masses[k // n], one["name"], one.get(observable)) for k, one in enumerate(report["sources"])]
    elif report.get(f"{observable}s"):
        listed = [(mass, report.get("source", ""), one) for mass, one in zip(masses, report[f"{observable}s"])]
    else:
        listed = [(masses[0], report.get("source", ""), report.get(observable))]
    return [one for one in listed if one[2]]


def symbol_of(report: Mapping[str, Any], tex: bool = False, start: bool = False) -> str:
    """The relative residual of the report's system; with `start`, relative to that before the first iteration."""
    matrix = "M" if report.get("system", "full") == "full" else "A"
    if tex:
        return rf"$|b - {matrix}x|\,/\,|b{f' - {matrix}x_0' if start else ''}|$"
    return f"|b - {matrix} x| / |b{f' - {matrix} x0' if start else ''}|"


def starts_of(report: Mapping[str, Any]) -> list[float]:
    """For each right-hand side the residual before the first iteration, relative to |b|, where it is above 1; else 1.

    It is 1 for a point source, and below 1 with a guess. A full system begins with x = b / 2m on the sites that CG does not
    solve for, and then noise has a residual of some |D b| / 2m |b|, far above 1.
    """
    starts = [rhs["history"][0] if rhs.get("history") else 1.0 for rhs in report["rhs"]]
    return [start if start and start > 1 + 1e-6 else 1.0 for start in starts]


def describe(report: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> str:
    """One line for titles and legends: lattice, quarks, mass, system, precision and reals a link, sloppy ones too."""
    parts = {
        "lattice": "×".join(map(str, report.get("lattice", ()))),
        "action": report["action"] if report.get("action", "naive") != "naive" else "",
        "mass": _mass_text(report),
        "system": report["system"] if report.get("system", "full") != "full" else "",
        "precision": "/".join(str(report[name]) for name in ("precision", "sloppy") if report.get(name)),
        "links": "/".join(str(report[name]) for name in ("links", "sloppy_links") if report.get(name)),
    }
    if parts["links"]:
        parts["links"] += " reals a link"
    return ", ".join(text for name, text in parts.items() if text and name not in without)


def _mass_text(report: Mapping[str, Any]) -> str:
    if report.get("masses"):
        masses = sorted(report["masses"])
        return f"m = {masses[0]:g}" + (f" ... {masses[-1]:g}" if len(masses) > 1 else "")
    return f"m = {report['mass']:g}" if report.get("mass") is not None else ""


def differences(reports: list[dict[str, Any]]) -> list[str]:
    """What tells reports apart, for a legend: those parts of describe that are not the same for all; else numbers."""
    names = ("lattice", "action", "mass", "system", "precision", "links")
    texts = [[describe(report, without=tuple(other for other in names if other != name)) for name in names] for report in reports]
    told = [[text for k, text in enumerate(row) if len({other[k] for other in texts}) > 1 and text] for row in texts]
    labels = [", ".join(row) for row in told]
    if len(set(labels)) == len(reports):
        return labels
    return [", ".join([*row, f"solve {k + 1}"]) for k, row in enumerate(told)]
