"""Hashes of solutions over what a solve may be asked, to compare two programs or two machines.

    solution_hashes.py PROGRAM HASHES.json [--device cpu|cuda]     writes {case: hash of the solution's bytes and of its history}
    solution_hashes.py PROGRAM HASHES.json --few                   fewer solves on a small lattice, for a program that is not optimized
    solution_hashes.py PROGRAM HASHES.json --valgrind              small runs under valgrind, which must see no unset number
    solution_hashes.py --compare A.json B.json                     ends with 1 where a case differs or is in one of them only

A change that should leave every bit alone is checked by the hashes of the program before it and after it, and a build by those of
another (`./dev sanitize --unset`). PROGRAM has many_solves beside it (tests/gpu/many_solves.cpp). What is no solve is a command of
PROGRAM: chains, smeared links, eigenpairs and what is solved with them.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
from launcher import MPICH, OPEN_MPI, ranks_command

LATTICE = (8, 4, 12, 16)  # up to sixteen ranks divide it
SMALL = (4, 4, 4, 8)
PHASES = "0.3,antiperiodic,periodic,0.5"
SOURCES = {"1": ["--source", "wall:0", "--color", "0"], "3": ["--source", "wall:3"],
           "5": ["--source", "gaussian:5", "--noise-vectors", "5"]}
CUTS = {"whole": (1, []), "loopback xyzt": (1, ["--loopback", "xyzt"]), "2 ranks": (2, ["--grid", "1,1,1,2"]),
        "4 ranks": (4, ["--grid", "2,1,2,1"])}
FORMS = ("two", "one", "wide")  # of the loop on a GPU


def cases(few: bool = False) -> dict[str, list[str]]:
    """Name -> options of `staghorn solve`, for every pair of precisions, link form, system and batch; or every fifth of them."""
    found: dict[str, list[str]] = {}
    for precision, links, system, rhs in itertools.product(("fp64", "fp32"), (18, 12, 8), ("full", "even", "odd"), SOURCES):
        found[f"{precision} {links} {system} rhs {rhs}"] = ["--precision", precision, "--sloppy", "none", "--links", links, "--system", system, *SOURCES[rhs]]
    for sloppy, links, system, rhs in itertools.product(("fp32", "fp16"), (18, 12, 8), ("full", "odd"), ("1", "3")):
        found[f"fp64/{sloppy} {links} {system} rhs {rhs}"] = ["--sloppy", sloppy, "--sloppy-links", links, "--system", system, *SOURCES[rhs]]
    for precision in ("fp64", "fp32"):
        found[f"{precision} 12 full rhs 3 phases"] = ["--precision", precision, "--sloppy", "none", "--links", 12, "--boundary", PHASES, *SOURCES["3"]]
    found["fp64 18 full rhs 3 milc"] = ["--sloppy", "none", "--phases", "milc", *SOURCES["3"]]
    return dict(list(found.items())[::5]) if few else found


# What is no solve of `cases`: name -> a command of the program, and the files and entries of its report that are compared. One after the
# other, in one folder.
SOLVE = ["solve", "--sloppy", "none", "--gauge", "q.h5", "--quiet", "--report", "report.json"]
COMMANDS = {
    "chain": (["generate", "--lattice", 4, 4, 4, 8, "--beta", 5.7, "--sweeps", 20, "--start", "hot", "--output", "q.h5"], ["q.h5"]),
    "eigenpairs": (["eigen", "--gauge", "q.h5", "--pairs", 4, "--output", "e.h5", "--report", "report.json"],
                   ["e.h5", "eigenvalues", "residuals", "calls"]),
    "eigenpairs in fp32": (["eigen", "--gauge", "q.h5", "--pairs", 3, "--precision", "fp32", "--tolerance", 1e-6, "--output", "f.h5"], ["f.h5"]),
    "low modes": ([*SOLVE, "--mass", 0.02, "--source", "z2:1", "--noise-vectors", 2, "--eigenvectors", "e.h5", "--exact-low-modes"],
                  ["rhs", "condensate"]),
    "correlator of low modes": ([*SOLVE, "--mass", 0.02, "--source", "wall:1", "--eigenvectors", "e.h5", "--exact-low-modes"],
                                ["rhs", "pion_correlator", "pion_low_part"]),
    "masses": ([*SOLVE, "--masses", "0.1,0.3,0.6", "--source", "wall:0"], ["rhs", "pion_correlators"]),
    "block": ([*SOLVE, "--mass", 0.1, "--source", "gaussian:3", "--noise-vectors", 4, "--solver", "block"], ["rhs", "condensate"]),
    "preconditioned": ([*SOLVE, "--mass", 0.1, "--source", "gaussian:3", "--preconditioner", "chebyshev:4"], ["rhs"]),
    "preconditioned in fp16": (["solve", "--sloppy", "fp16", *SOLVE[3:], "--mass", 0.1, "--source", "wall:2", "--preconditioner", "chebyshev:6"], ["rhs"]),
    "turns": ([*SOLVE, "--mass", 0.2, "--sources", "point:0,0,0,0; wall:3; z2:4", "--batch", 2], ["rhs", "sources"]),
    "hisq": ([*SOLVE, "--mass", 0.1, "--action", "hisq", "--source", "wall:2"], ["rhs", "pion_correlator"]),
    "smeared": (["smear", "--gauge", "q.h5", "--action", "asqtad", "--fat", "fat.h5", "--long", "long.h5"], ["fat.h5", "long.h5"]),
}


def hashes_of_commands(program: Path, device: str, names=tuple(COMMANDS), around: tuple[str, ...] = ()) -> dict[str, str]:
    """Of these commands; `around`: what runs the program, as valgrind."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in names:
            command, compared = COMMANDS[case]
            done = subprocess.run([*around, program, *map(str, command), "--device", device, "--force"], cwd=folder, capture_output=True,
                                  text=True, env=environment(1, SOURCE_DATE_EPOCH="0"))
            if done.returncode not in (0, 3):
                sys.exit(f"{case}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-6000:]}")
            values = [(Path(folder) / part).read_bytes() if part.endswith(".h5") else
                      repr(json.loads((Path(folder) / "report.json").read_text())[part]).encode() for part in compared]
            found[case] = hashlib.sha256(b"".join(values)).hexdigest()[:16]
    return found


def environment(ranks: int, **extra: str) -> dict[str, str]:
    return {**os.environ, **OPEN_MPI.variables, **MPICH.variables, "STAGHORN_TUNING": "off", "OMP_NUM_THREADS": "1" if ranks > 1 else "2", "OMP_WAIT_POLICY": "passive", **extra}


def hash_of(folder: Path, i: int) -> str:
    with h5py.File(folder / f"{i}.h5") as file:
        bits = file["solution"][()].tobytes()
    report = json.loads((folder / f"{i}.json").read_text())
    histories = [(rhs["history"], rhs["iterations"], rhs.get("updates")) for rhs in report["rhs"]]
    return hashlib.sha256(bits + repr(histories).encode()).hexdigest()[:16]


def hashes_of(program: Path, gauge: Path, cut: str, device: str, form: str | None, few: bool) -> dict[str, str]:
    ranks, options = CUTS[cut]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        requests = []
        for i, of_case in enumerate(cases(few).values()):
            requests.append("\t".join(map(str, ["--gauge", gauge, "--mass", 0.2, "--output", folder / f"{i}.h5", "--report", folder / f"{i}.json",
                                                "--quiet", "--device", device, *options, *of_case])))
        (folder / "requests").write_text("\n".join(requests) + "\n")
        extra = {"STAGHORN_CG_KERNELS": form} if form else {}
        done = subprocess.run([*ranks_command(ranks, program), program.parent / "many_solves", folder / "requests"], capture_output=True, text=True,
                              env=environment(ranks, **extra))
        statuses = set(re.findall(r"^exit status (\d+)$", done.stdout, re.MULTILINE))
        if done.returncode or not statuses <= {"0", "3"}:
            sys.exit(f"{cut}, {device}, {form}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return {f"{case}, {cut}": hash_of(folder, i) for i, case in enumerate(cases(few))}


def write(program: Path, path: Path, device: str, few: bool):
    found = hashes_of_commands(program, device)
    with tempfile.TemporaryDirectory() as name:
        gauge = Path(name) / "hot.h5"
        subprocess.run([program, "generate", "--lattice", *map(str, SMALL if few else LATTICE), "--sweeps", "0", "--seed", "3", "--output", gauge, "--device", "cpu"],
                       check=True, capture_output=True, env=environment(1))
        for cut in CUTS:
            for form in FORMS if device == "cuda" else (None,):
                for case, answer in hashes_of(program, gauge, cut, device, form, few).items():
                    found[f"{case}, {form} kernel" if form else case] = answer
    path.write_text(json.dumps(found, indent=1))
    print(f"{len(found)} solutions of {len(set(found.values()))} kinds on {device}: {path}")


# What valgrind says of an MPI and of what it loads is none of ours.
OF_OTHERS = "".join(f"{{\n  {library}\n  Memcheck:{kind}\n  ...\n  obj:*/{library}*\n}}\n" for kind in ("Cond", "Value8", "Param\n  *")
                    for library in ("libmpi", "libopen-", "mca_", "libpmix", "libevent", "libhwloc", "libucp", "libucs"))


def watch(program: Path, path: Path) -> int:
    """Under valgrind, which ends a command with 99 where it depends on a number that nothing has set. Slow: not all commands."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "others.supp").write_text(OF_OTHERS)
        valgrind = ("valgrind", "--error-exitcode=99", "--leak-check=no", "--track-origins=yes", f"--suppressions={name}/others.supp")
        found = hashes_of_commands(program, "cpu", ("chain", "eigenpairs", "low modes", "block"), valgrind)
    differ = {case for case, answer in hashes_of_commands(program, "cpu", tuple(found)).items() if found[case] != answer}
    path.write_text(json.dumps(found, indent=1))
    print(f"valgrind saw no unset number in {', '.join(found)}; {len(differ)} with other bits: {path}")
    return 1 if differ else 0


def compare(first: Path, second: Path) -> int:
    a, b = json.loads(first.read_text()), json.loads(second.read_text())
    differ = sorted(case for case in a.keys() | b.keys() if a.get(case) != b.get(case))
    print(f"{len(a.keys() & b.keys()) - len([c for c in differ if c in a and c in b])} solutions alike, {len(differ)} not")
    for case in differ[:20]:
        print(f"  {case}: {a.get(case)} and {b.get(case)}")
    return 1 if differ or not a else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, metavar="PROGRAM|A.json")
    parser.add_argument("second", type=Path, metavar="HASHES.json|B.json")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--valgrind", action="store_true")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        return compare(options.first, options.second)
    if options.valgrind:
        return watch(options.first.resolve(), options.second)
    write(options.first.resolve(), options.second, options.device, options.few)
    return 0


if __name__ == "__main__":
    sys.exit(main())
