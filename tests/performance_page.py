"""The three tables of docs/performance.md: CPU, one GPU, several GPUs. Each is written from its file in docs/figures/.

    python tests/performance_page.py        # writes the tables into the page anew

`./dev measure FOLDER --write` measures, writes the file of this machine's kind, and calls this.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURES = DOCS / "performance.md", DOCS / "figures"
KINDS = [(precision, links) for precision in ("fp64", "fp32", "fp16") for links in (18, 12, 8)]
CPU_LARGE, SMALL, MIDDLE, LARGE, LARGEST = (32, 32, 32, 16), (16, 16, 16, 32), (24, 24, 24, 48), (32, 32, 32, 64), (48, 48, 48, 96)


def extents(lattice) -> str:
    return "x".join(map(str, lattice))


def number(us) -> str:
    """Microseconds as shown: a range as "481-487", nothing as "-"."""
    if us is None:
        return "-"
    if isinstance(us, list):
        return "-".join(f"{x:.0f}" if x > 100 else f"{x:.1f}" for x in us)
    return f"{us:.1f}" if us < 1000 else f"{us:.0f}"


def percent(share) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


class Figures:
    """The figures of one file: what was timed -> its row, of naive quarks."""

    def __init__(self, data: dict):
        self.data = data
        naive = [row for row in data["rows"] if "naik" not in row]
        self.rows = {(row["what"], tuple(row["lattice"]), row["precision"], row["links"], row["rhs"]): row for row in naive}

    def row(self, what, lattice, kind, rhs=1) -> dict:
        return self.rows.get((what, tuple(lattice), *kind, rhs), {})

    def us(self, *timed):
        return self.row(*timed).get("us")

    def caption(self) -> str:
        low, high = self.data["stream_gb_s"]
        copy = self.data.get("copy_gb_s")
        also = f", copy {copy[0]:.0f} to {copy[1]:.0f} GB/s" if copy else ""
        stream = f"{low:.1f} to {high:.1f}" if high < 100 else f"{low:.0f} to {high:.0f}"
        return f"{self.data['machine']}; {self.data['compiler']}; {self.data['date']}. Streaming read {stream} GB/s{also}."


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows])


def cpu_table(data: dict) -> str:
    figures, rows = Figures(data), []

    def sites(lattice, kind):  # Msite it/s
        us = figures.us("cg iteration", lattice, kind)
        x, y, z, t = lattice
        return f"{x * y * z * t / us:.1f}" if us else "-"

    for kind in KINDS:
        if not any(timed[2:4] == kind for timed in figures.rows):
            continue
        many = figures.us("hop", SMALL, kind, 16)
        rows.append([f"{kind[0]}, {kind[1]} reals", number(figures.us("hop", CPU_LARGE, kind)),
                     percent(figures.row("hop", CPU_LARGE, kind).get("of_stream")),
                     number(figures.us("cg iteration", CPU_LARGE, kind)), sites(CPU_LARGE, kind), sites(SMALL, kind),
                     number(many / 16) if many else "-"])
    large, small = extents(CPU_LARGE), extents(SMALL)
    return figures.caption() + "\n\n" + table(
        ["CPU", f"hop, {large}: us", "of the stream", f"CG, {large}: us an iteration", "Msite it/s", f"CG, {small}: Msite it/s",
         f"hop of 16, {small}: us each"], rows)


def gpu_table(data: dict) -> str:
    figures, rows = Figures(data), []
    solves = {(name.split()[0].split("/")[-1], int(name.split()[1])): solve for name, solve in data["solves"].items()}
    for kind in KINDS:
        many = figures.us("cg iteration", LARGE, kind, 16)
        rows.append([f"{kind[0]}, {kind[1]} reals", number(figures.us("hop", LARGE, kind)),
                     percent(figures.row("hop", LARGE, kind).get("of_stream")),
                     *(number(figures.us("cg iteration", lattice, kind)) for lattice in (SMALL, MIDDLE, LARGE, LARGEST)),
                     percent(figures.row("cg iteration", LARGE, kind).get("of_floor")),
                     number(many / 16) if many else "-", number(solves[kind]["us"]) if kind in solves else "-"])
    for kind in KINDS:
        if figures.us("cg iteration, cublas", LARGE, kind):
            rows.append([f"{kind[0]}, {kind[1]} reals, `--blas cublas`", "-", "-",
                         *(number(figures.us("cg iteration, cublas", lattice, kind)) for lattice in (SMALL, MIDDLE, LARGE, LARGEST)),
                         "-", "-", "-"])
    large = extents(LARGE)
    return figures.caption() + "\n\n" + table(
        ["one GPU", f"hop, {large}: us", "of the stream", f"CG, {extents(SMALL)}: us an iteration", extents(MIDDLE), large,
         extents(LARGEST), f"of the floor, {large}", f"CG of 16, {large}: us each", f"whole solve, {large}: us an iteration"], rows)


def middle(us) -> float:
    return sum(us) / len(us) if isinstance(us, list) else us


def several_table(data: dict) -> str:
    """The newest measurement gives one GPU, and each number of GPUs comes from the newest measurement that has it."""
    measured = sorted(data["measurements"], key=lambda m: m["date"], reverse=True)
    counts = sorted({int(n) for m in measured for row in m["rows"] for n in row["us"]} - {1})
    source = {n: next(m for m in measured if any(str(n) in row["us"] for row in m["rows"])) for n in counts}

    def same(row, measurement):
        keys = ("series", "lattice", "precision", "links")
        return next((r for r in measurement["rows"] if all(r[k] == row[k] for k in keys)), {"us": {}})

    rows = []
    for row in measured[0]["rows"]:
        cells = [f"{row['series']}, {extents(row['lattice'])}{' each' if row['series'] == 'weak' else ''}, {row['precision']}",
                 number(row["us"]["1"])]
        for n in counts:
            us = same(row, source[n])["us"]
            cells.append(number(us.get(str(n))))
            shared = n if row["series"] == "strong" else 1
            cells.append(percent(middle(us["1"]) / (shared * middle(us[str(n)]))) if {"1", str(n)} <= set(us) else "-")
        rows.append(cells)
    heads = ["CG, 12 reals: us an iteration", "1 GPU"]
    for n in counts:
        heads += [f"{n} GPUs", "efficiency"]
    captions = [f"{', '.join(f'{n} GPUs' for n in counts if source[n] is m)}: {m['machine']}; {m['date']}{m.get('note', '')}."
                for m in measured if m in source.values()]
    return " ".join(captions) + "\n\n" + table(heads, rows)


TABLES = {"cpu": cpu_table, "gpu": gpu_table, "several-gpus": several_table}


def with_tables(page: str) -> str:
    """The page with each table between its two marks written anew."""
    for name, make in TABLES.items():
        new = f"<!-- {name}: from figures/{name}.json -->\n\n{make(json.loads((FIGURES / f'{name}.json').read_text()))}\n\n<!-- end -->"
        page, found = re.subn(rf"<!-- {name}: .*?<!-- end -->", lambda _: new, page, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"{PAGE.name}: expected one place for the table '{name}', found {found}")
    return page


def dumps(data: dict) -> str:
    """JSON with one row a line."""
    marked, rows = json.loads(json.dumps(data)), []

    def keep(found: list) -> list:
        places = []
        for row in found:
            places.append(f"@row{len(rows)}@")
            rows.append(json.dumps(row))
        return places

    for part in [marked, *marked.get("measurements", [])]:
        if "rows" in part:
            part["rows"] = keep(part["rows"])
    return re.sub(r'"@row(\d+)@"', lambda match: rows[int(match[1])], json.dumps(marked, indent=1)) + "\n"


def write_page():
    PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    write_page()
