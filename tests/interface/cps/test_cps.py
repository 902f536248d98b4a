"""Programs that are written against CPS: what each call promises and leaves behind, HMC's factory, builds of CPS, the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "tests" / "interface" / "cps"
INCLUDED = [f"-I{HERE}", f"-I{ROOT}/solver/interface", f"-I{ROOT}/solver/interface/cps"]
compiles = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")


def compiled(*arguments, standard="c++11"):
    return subprocess.run(["g++", f"-std={standard}", "-Wall", "-Wextra", "-Werror", *INCLUDED, *arguments], capture_output=True, text=True,
                          timeout=300)


def linked(program, sources, target, *arguments, standard="c++11"):
    """The program of these sources, with libstaghorn.so of the build."""
    result = compiled(*sources, *arguments, f"-L{program.parent}", "-lstaghorn", f"-Wl,-rpath,{program.parent}", "-o", target, standard=standard)
    assert result.returncode == 0, result.stderr
    return target


def ends_well(*command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("nodes", ["", "1 1 1 1", "1 1 1 2", "1 2 1 2"])
def test_a_program_written_against_cps_gets_what_cps_promises(run_built, nodes):
    cut = nodes.split()
    result = run_built("cps_program", *cut, ranks=int(np.prod([int(n) for n in cut])), threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


@pytest.mark.mpi
def test_each_call_leaves_behind_what_cps_leaves(run_built):
    result = run_built("cps_beside", threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


BUILDS = {"without a namespace": (["-DFAKE_CPS_WITHOUT_NAMESPACE", "-DSTAGHORN_CPS_NAMESPACE="], "c++11"),
          "with MILC's phases": (["-DMILC_COMPATIBILITY"], "c++20")}


@compiles
@pytest.mark.parametrize("build", BUILDS)
def test_other_builds_of_cps_get_the_same(program, tmp_path, build):
    options, standard = BUILDS[build]
    host = linked(program, [HERE / "cps_beside.cpp", HERE / "fake_cps.cpp"], tmp_path / "host", "-O1", *options, standard=standard)
    assert ends_well(host) == "ok\n"


@compiles
@pytest.mark.parametrize("base, text", [("GnoneFp4", "does not offer Fp4 and Fhisq"), ("Other", "lattice classes with staggered fermions")])
def test_classes_that_are_not_offered_are_refused_by_name(tmp_path, base, text):
    (tmp_path / "main.cpp").write_text("#include <staghorn_cps.hpp>\nstruct Other {};\nusing namespace cps;\n"
                                       f"void make(staghorn_cps::Connection& c) {{ staghorn_cps::Solver<{base}> lattice(c); }}\n")
    result = compiled("-fsyntax-only", tmp_path / "main.cpp")
    assert result.returncode != 0 and text in result.stderr, result.stderr


@compiles
@pytest.mark.parametrize("headers, text", [(["staghorn_cps.hpp", "util/lattice.h", "util/gjp.h"], ""),
                                           (["util/gjp.h", "staghorn_cps.hpp"], ""),
                                           (["staghorn_cps.hpp", "staghorn_mpi.h"], "staghorn_mpi.h comes before staghorn_cps.hpp")])
def test_headers_may_come_in_any_order_or_say_which(tmp_path, headers, text):
    (tmp_path / "mpi.h").write_text("typedef int MPI_Comm;\n")
    lines = [f"#include <{header}>\n" for header in headers]
    (tmp_path / "main.cpp").write_text("".join(lines) + "void make() { staghorn_cps::Solver<cps::GwilsonFstag> lattice; }\n")
    result = compiled("-fsyntax-only", f"-I{tmp_path}", tmp_path / "main.cpp")
    assert (result.returncode != 0) == bool(text) and text in result.stderr, result.stderr


# What stands around the functions of the page: unit links, a source of ones, one node.
MAIN = """
namespace cps { GlobalJobParameter GJP = {{4, 4, 4, 8}, {1, 1, 1, 1}, {0, 0, 0, 0},
    {BND_CND_PRD, BND_CND_PRD, BND_CND_PRD, BND_CND_APRD}, {0, 0, 0, 0}, 1, 1, 1, 3};
  Lattice& LatticeFactory::Create(FclassType, GclassType) { made() = new staghorn_cps::Solver<GnoneFstag>; return *made(); } }
void use();
std::vector<cps::Vector> x(512), b(512);
int main() {
  cps::Lattice::links().resize(2048);
  for (cps::Matrix& u : cps::Lattice::links()) u.u[0] = u.u[8] = u.u[16] = 1;
  for (cps::Vector& v : b) v.v[0] = 1;
  use();
}
cps::CgArg argument() { cps::CgArg arg; arg.mass = 0.5; arg.stop_rsd = 1e-10; arg.max_num_iter = 100; return arg; }
"""
USES = {"propagator": ("void use() { CgArg arg = argument(); propagator(x.data(), b.data(), &arg); }",
                       r"\d+ iterations, true residual \d\.\de-1\d, 1 calls\n"),
        "run": ("""void use() { run([] {
                     CgArg arg = argument();
                     Lattice& lat = LatticeFactory::Create(F_CLASS_STAG, G_CLASS_NONE);
                     lat.FmatEvlInv(x.data(), b.data(), &arg, CNV_FRM_NO);
                     LatticeFactory::Destroy(); }); }""", "1 calls were answered by Staghorn\n"),
        "deflated": ("void use() { staghorn_cps::Connection staghorn; if (deflated(staghorn, 3, x.data(), b.data(), argument()) > 1) puts(\"ok\"); }",
                     "ok\n")}


@compiles
@pytest.mark.parametrize("function", USES)
def test_functions_of_the_page_compile_and_do_what_it_says(program, tmp_path, function):
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "interfaces" / "cps.md").read_text(), re.DOTALL)
    assert len(blocks) == len(USES)
    code = next(block for block in blocks if f" {function}(" in block)
    code = code.replace("#include <staghorn_mpi.h>", "").replace("(MPI_COMM_WORLD)", "")  # one node
    use, expected = USES[function]
    (tmp_path / "main.cpp").write_text(f"{code}\n#include <cstdio>\n{MAIN}\n{use}\n")
    host = linked(program, [tmp_path / "main.cpp", HERE / "fake_cps.cpp"], tmp_path / "host")
    assert re.fullmatch(expected, ends_well(host))
