"""Solves with a program for another processor, which is emulated, and compares the bytes with those of a program of this machine.

    emulated_processor.py EMULATED PROGRAM --under "qemu-aarch64 -L FOLDER" [--sets "baseline;sve256"]

Naive quarks and HISQ on the configuration of configs/, in fp64, fp64/fp32 and fp64/fp16, by one rank and by two: the file of the
solution and the residuals of all iterations. With other kernels than baseline also chains and eigenpairs. Ends with 1 where bytes
differ, or where other kernels ran than those that were asked for.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GAUGE = Path(__file__).resolve().parents[1] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
SOLVE = ["solve", "--gauge", GAUGE, "--mass", 0.5, "--color", 0, "--output", "x.h5", "--report", "x.json", "--quiet", "--force", "--device", "cpu"]
CASES = {f"{action}, {precision}, {ranks} rank{'s' if ranks > 1 else ''}": (ranks, [*SOLVE, "--action", action, "--sloppy", sloppy])
         for action, (precision, sloppy), ranks in itertools.product(("naive", "hisq"), (("fp64", "none"), ("fp64/fp32", "fp32"), ("fp64/fp16", "fp16")), (1, 2))}
# What is no solve on the configuration: the commands, one after the other, and the file that is compared.
COMMANDS = {
    "chain of the heatbath": ["generate", "--lattice", 4, 4, 4, 8, "--beta", 5.7, "--sweeps", 5, "--start", "hot", "--output", "x.h5"],
    "HISQ links": ["smear", "--gauge", GAUGE, "--action", "hisq", "--fat", "x.h5", "--long", "long.h5"],
    "eigenpairs": ["eigen", "--gauge", GAUGE, "--pairs", 2, "--tolerance", 1e-6, "--output", "x.h5"],
    "three masses": [*SOLVE[:3], "--masses", "0.4,0.5,0.6", *SOLVE[5:]],
    "block of sources": [*SOLVE[:5], "--source", "gaussian:3", "--noise-vectors", 4, "--solver", "block", *SOLVE[7:]],
}
# The bytes of SVE registers that qemu offers.
REGISTERS = {"sve256": 32, "sve512": 64}


def answer(program: list[str | Path], ranks: int, words: list, kernels: str | None) -> tuple[bytes, object, str | None]:
    """The bytes of the file that a command writes; of a solve also the residuals of all iterations, and which kernels ran."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "OMP_NUM_THREADS": "1" if ranks > 1 else "2", "OMP_WAIT_POLICY": "passive",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", **({"STAGHORN_CPU_KERNELS": kernels} if kernels else {})}
    mpirun = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"] if ranks > 1 else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*map(str, [*mpirun, *program, *words])], cwd=folder, capture_output=True, text=True, env=environment, timeout=900)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, [*program, *words]))}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        report = Path(folder, "x.json")
        told = json.loads(report.read_text()) if report.exists() else {}
        histories = [(rhs["history"], rhs["iterations"]) for rhs in told.get("rhs", [])]
        return Path(folder, "x.h5").read_bytes(), histories, told.get("provenance", {}).get("kernels")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("emulated", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--under", type=shlex.split, required=True, metavar="WORDS")
    parser.add_argument("--sets", default="baseline")
    options = parser.parse_args()
    sets = options.sets.split(";")
    said = subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout
    most = 1 if "no MPI" in said or shutil.which("mpirun") is None else 2
    if most == 1:
        print("by one rank only: the program of this machine has no MPI, or there is no mpirun")
    cases = {**{name: case for name, case in CASES.items() if case[0] <= most}, **({name: (1, words) for name, words in COMMANDS.items()} if len(sets) > 1 else {})}
    differ = 0
    for name, (ranks, words) in cases.items():
        bytes_here, residuals_here, _ = answer([options.program.resolve()], ranks, words, None)
        for kernels in sets:
            registers = ["-cpu", f"max,sve-default-vector-length={REGISTERS[kernels]}"] if kernels in REGISTERS else []
            found, residuals, ran = answer([options.under[0], *registers, *options.under[1:], options.emulated.resolve()], ranks, words, kernels)
            wrong = [text for text, is_so in (("other bytes", found != bytes_here), ("other residuals", residuals != residuals_here),
                                              (f"kernels {ran}", ran not in (None, kernels))) if is_so]
            differ += bool(wrong)
            print(f"{name}, {kernels}: {', '.join(wrong) or f'the same {len(found)} bytes'}", flush=True)
    print(f"{len(cases) * len(sets) - differ} answers alike, {differ} not")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
