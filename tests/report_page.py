"""The tables of docs/guide/reading-a-report.md, from docs/guide/report.schema.json.

    python tests/report_page.py        # writes the tables into the page anew

A new key of a report goes into the schema, with its description; then this.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide"
SCHEMA, PAGE = GUIDE / "report.schema.json", GUIDE / "reading-a-report.md"


def schema() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text())


def schema_of(kind: str) -> dict[str, Any]:
    """The schema of one kind of report: solve, eigen, coarse, certify, smooth, bench, campaign or error."""
    whole = schema()
    return {**whole, "oneOf": [{"$ref": f"#/$defs/{kind}"}]}


def _insides(value: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """The object that `value` is, holds or names; {} if there is none."""
    if value.get("$ref") == "#/$defs/solve":  # a report within another: its own table has the keys
        return {}
    if "$ref" in value:
        return _insides(parts[value["$ref"].rsplit("/", 1)[1]], parts)
    for one in [*value.get("oneOf", []), value.get("items"), value.get("additionalProperties")]:
        if isinstance(one, dict) and (found := _insides(one, parts)):
            return found
    return value if "properties" in value else {}


def rows(kind: str) -> list[tuple[str, str]]:
    """Key and description of everything in one kind of report; `rhs[].history` is history in the entries of rhs."""
    parts, found = schema()["$defs"], []

    def walk(value: dict[str, Any], before: str) -> None:
        for key, inner in value["properties"].items():
            name, deeper = before + key, _insides(inner, parts)
            target = parts[inner["$ref"].rsplit("/", 1)[1]] if "$ref" in inner else inner
            many = "[]" if target.get("type") == "array" else ".*" if isinstance(target.get("additionalProperties"), dict) else ""
            words = [str(one) for one in inner.get("enum", []) if one is not None]
            found.append((name, inner["description"] + (f" ({', '.join(words)})" if words else "")))
            # What several keys share is told once.
            if deeper and "$ref" in inner and not (told := inner["$ref"] not in seen):
                found[-1] = (name, f"{inner['description']}: as `{seen[inner['$ref']]}`")
            elif deeper:
                if "$ref" in inner:
                    seen[inner["$ref"]] = name
                walk(deeper, f"{name}{many}.")

    seen: dict[str, str] = {}
    if kind != "solve":  # the first table has them
        walk(parts["solve"], "")
        seen = {part: f"{key}` of a solve" for part, key in seen.items()}
        found.clear()
    walk(parts[kind], "")
    return [(key, text.replace("` of a solve`", "` of a solve")) for key, text in found]


def table(kind: str) -> str:
    lines = [f"| `{key}` | {text.replace('|', chr(92) + '|')} |" for key, text in rows(kind)]
    return "\n".join(["| key | what it says |", "| --- | --- |", *lines])


def written(page: str) -> str:
    """The page with its tables as they should be."""
    for kind in ("solve", "eigen", "coarse", "certify", "smooth", "bench", "campaign", "error"):
        page = re.sub(rf"(<!-- {kind}: from report.schema.json -->\n\n).*?(<!-- end -->)",
                      lambda found: found[1] + table(kind) + "\n\n" + found[2], page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
