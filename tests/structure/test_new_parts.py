"""What the how-to pages promise: a new observable, solver or preconditioner is one file and one row, a new option one row, and all the
rest knows it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_package import block, run
from program_under_test import ROOT

pytestmark = pytest.mark.slow

# |x|^2 on each time slice: a curve that a noise source gives.
NORM = """
#include "dirac/algebra/su3_matrix.hpp"
#include "solver/observables/observable_table.hpp"

namespace staghorn {

namespace {

class Norm final : public Measurement {
 public:
  explicit Norm(const MeasuredSource& source) : norms_(source.n_masses()) {}
  void take(const Solution& solution) override {
    const std::size_t mass = solution.mass;
    const VectorField& x = solution.field;
    norms_[mass].assign(std::size_t(x.lattice().global()[3]), 0);
    for (std::int64_t site = 0; site < x.size(); ++site)
      norms_[mass][std::size_t(x.lattice().to_global(x.lattice().site_coordinates(site))[3])] += norm2(x[site]);
  }
  void visit_parts(const VisitNumbers& part) override {
    for (auto& norms : norms_) part(norms);
  }
  void put_into(Observable& observable, std::size_t mass) const override { observable.values = norms_[mass]; }

 private:
  std::vector<std::vector<double>> norms_;
};

}  // namespace

ObservableEntry norm() {
  return {{"norm", "", ObservableKind::curve, "norm of a slice", "|x(t)|^2", "norm_source", "sum_x |x(x,t)|^2"},
          [](const SourceRequest& source) { return source.spec.is_noise(); },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> { return std::make_unique<Norm>(source); }};
}

}  // namespace staghorn
"""


def commands_of(build: Path) -> list[str]:
    if shutil.which("ninja") is None or not (build / "build.ninja").is_file():
        pytest.skip("the program is not in a build folder of ninja")
    return subprocess.run(["ninja", "-C", build, "-t", "commands", "all"], capture_output=True, text=True, check=True).stdout.splitlines()


def compiled(build: Path, sources: list[Path]) -> list[Path]:
    """Objects with the flags of the program's, for the program and for shared libraries."""
    compile_one = next(shlex.split(line) for line in commands_of(build) if line.endswith("/program/main.cpp"))
    compiler = next(k for k, word in enumerate(compile_one) if Path(word).name in ("c++", "g++", "clang++"))
    kept = [word for word in compile_one[compiler:] if word.startswith(("-D", "-I", "-f", "-std", "-m")) or word == "-isystem" or word.startswith("/usr")]
    for source in sources:
        subprocess.run([*kept, "-fPIC", "-O0", "-c", source, "-o", source.with_suffix(".o")], check=True, cwd=build)
    return [source.with_suffix(".o") for source in sources]


def linked_with(build: Path, objects: list[Path], output: str, product: Path) -> Path:
    """The program or shared library `output` of the build with `objects` in place of those of its libraries that define the same."""
    link = shlex.split(next(line for line in commands_of(build) if f" -o {output}" in line))
    words = link[link.index(":") + 2: -2] if link[0] == ":" else link
    place = words.index("-o")
    words[place + 1] = str(product)
    subprocess.run([*words[:place], "-Wl,--allow-multiple-definition", *map(str, objects), *words[place:]], check=True, cwd=build)
    return product


@pytest.fixture(scope="module")
def with_norm(program, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("observable")
    table = (ROOT / "solver/observables/observable_table.cpp").read_text()
    table = re.sub(r"\n\nstd::span<const Obs", r"\nObservableEntry norm();\n\nstd::span<const Obs", table, count=1)
    table = table.replace("chiral_condensate()};", "chiral_condensate(), norm()};")
    assert table.count("norm()") == 2
    (folder / "observable_table.cpp").write_text(table)
    (folder / "norm.cpp").write_text(NORM)
    objects = compiled(program.parent, [folder / "observable_table.cpp", folder / "norm.cpp"])
    return linked_with(program.parent, objects, "staghorn ", folder / "staghorn")


def test_a_new_observable_is_a_file_and_a_row(with_norm, small_gauge, tmp_path):
    solve = [with_norm, "solve", "--gauge", small_gauge, "--device", "cpu", "--report", tmp_path / "r.json", "--output", tmp_path / "x.h5"]
    done = subprocess.run([*solve, "--mass", "0.4", "--source", "z2:3"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert sum(report["norm"]) == pytest.approx(report["rhs"][0]["norm2"]) and len(report["norm"]) == report["lattice"][3]
    assert "norm of a slice" in done.stdout
    page = subprocess.run([with_norm, "report", tmp_path / "r.json", "--output", "-"], capture_output=True, text=True)
    assert "norm of a slice" in page.stdout
    many = [*solve, "--force", "--masses", "0.4,0.6", "--sources", "point:0,0,0,0;z2:3"]
    assert subprocess.run(many, capture_output=True).returncode == 0
    sources = json.loads((tmp_path / "r.json").read_text())["sources"]
    assert [len(source["norm"]) for source in sources] == [0, report["lattice"][3]] * 2


def test_a_new_solver_is_a_file_and_a_row(program, small_gauge, tmp_path):
    """That of the how-to page, as it stands there."""
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/development/how-to-add-a-solver.md").read_text(), re.DOTALL)
    solver, row = blocks
    made = "std::unique_ptr<KrylovSolver> make_steepest_descent(const StaggeredOperator& d)"
    (tmp_path / "steepest_descent.cpp").write_text(
        f'#include "solver/krylov/running_rhs.hpp"\nnamespace staghorn {{\n{solver}\n{made} {{ return std::make_unique<SteepestDescent>(d); }}\n}}\n')
    table = (ROOT / "solver/krylov/table/solver_table.cpp").read_text()
    table = table.replace("namespace {\n", f"{made};\n\nnamespace {{\n", 1).replace("table[] = {\n", f"table[] = {{\n{row}", 1)
    (tmp_path / "solver_table.cpp").write_text(table)
    objects = compiled(program.parent, [tmp_path / "solver_table.cpp", tmp_path / "steepest_descent.cpp"])
    linked_with(program.parent, objects, "staghorn ", tmp_path / "staghorn")
    solve = ["solve", "--gauge", small_gauge, "--device", "cpu", "--mass", "1", "--report", tmp_path / "r.json", "--solver", "descent"]
    done = subprocess.run([tmp_path / "staghorn", *solve], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solver"] == "descent" and report["outcome"] == "certified" and report["rhs"][0]["iterations"] > 10


IDENTITY = """
#include "solver/krylov/preconditioned/preconditioner.hpp"

namespace staghorn {

class Identity final : public Preconditioner {
 public:
  void apply(const ParitySystem&, ColorVectorField& z, const ColorVectorField& r) override { z.copy_from(r); }
  std::int64_t bytes() const override { return 0; }
};

std::unique_ptr<Preconditioner> make_identity() { return std::make_unique<Identity>(); }

}  // namespace staghorn
"""
ROW_OF_IDENTITY = """    {"identity", "for nothing", 1, 1, [](StaggeredOperator&, StaggeredOperator*, int) { return make_identity(); },
     [](const OperatorBytes&, const OperatorBytes*) { return 0.0; }},
"""


def test_a_new_preconditioner_is_a_file_and_a_row(program, small_gauge, tmp_path):
    table = (ROOT / "solver/krylov/preconditioned/preconditioner_table.cpp").read_text()
    table = table.replace("namespace {\n", "std::unique_ptr<Preconditioner> make_identity();\n\nnamespace {\n", 1)
    table = table.replace("preconditioners[] = {\n", "preconditioners[] = {\n" + ROW_OF_IDENTITY)
    assert table.count("make_identity()") == 2
    (tmp_path / "preconditioner_table.cpp").write_text(table)
    (tmp_path / "identity.cpp").write_text(IDENTITY)
    objects = compiled(program.parent, [tmp_path / "preconditioner_table.cpp", tmp_path / "identity.cpp"])
    linked_with(program.parent, objects, "staghorn ", tmp_path / "staghorn")
    solve = ["solve", "--gauge", small_gauge, "--device", "cpu", "--mass", "0.2", "--color", "0", "--report", tmp_path / "r.json", "--force"]
    iterations = []
    for options in ([], ["--preconditioner", "identity:1"]):
        done = subprocess.run([tmp_path / "staghorn", *solve, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        iterations.append(json.loads((tmp_path / "r.json").read_text())["rhs"][0]["iterations"])
    assert abs(iterations[1] - iterations[0]) <= 2  # CG itself
    refused = subprocess.run([tmp_path / "staghorn", *solve, "--preconditioner", "identity:2"], capture_output=True, text=True)
    assert refused.returncode == 1 and "identity:N with 1 to 1 for nothing" in refused.stderr


# A limit of iterations by another name.
PATIENCE = """{solver, "patience", "N", "iterations that are enough",
       [](O& options, const std::string& text) { options.request.max_iterations = parse_number<long>(text); },
       std::nullopt},
      """
LIBRARY = "libstaghorn.so.0"


@pytest.fixture(scope="module")
def with_patience(program, tmp_path_factory) -> Path:
    """A folder with the program, the library of C and the package of Python whose table of options has that row."""
    build, folder = program.parent, tmp_path_factory.mktemp("option")
    table = (ROOT / "solver/request/option_table.cpp").read_text()
    last = "\n      quark_row("  # the rows of a solve end before the first of the quarks
    assert last in table
    (folder / "option_table.cpp").write_text(table.replace(last, "\n      " + PATIENCE.rstrip() + last, 1))
    objects = compiled(build, [folder / "option_table.cpp"])
    linked_with(build, objects, "staghorn ", folder / "staghorn")
    linked_with(build, objects, "libstaghorn.so.", folder / LIBRARY)
    if (build / "python/staghorn").is_dir():
        shutil.copytree(build / "python/staghorn", folder / "python/staghorn")
        for module in folder.glob("python/staghorn/_native.*.so"):
            linked_with(build, objects, f"python/staghorn/{module.name}", module)
    return folder


def test_a_new_option_is_a_row_for_the_program_and_ini_files(with_patience, small_gauge, tmp_path):
    (tmp_path / "solve.ini").write_text(f"gauge = {small_gauge}\nmass = 0.4\nsource = z2:3\ndevice = cpu\npatience = 3\n")
    for asked in (["--config", tmp_path / "solve.ini"], ["--gauge", small_gauge, "--mass", "0.4", "--source", "z2:3", "--device", "cpu", "--patience", "3"]):
        subprocess.run([with_patience / "staghorn", "solve", *asked, "--report", tmp_path / "r.json", "--force"], capture_output=True)
        assert json.loads((tmp_path / "r.json").read_text())["rhs"][0]["iterations"] == 3
    assert "--patience N" in run(with_patience / "staghorn", "solve", "--help")
    wrong = subprocess.run([with_patience / "staghorn", "solve", "--patience", "much"], capture_output=True, text=True)
    assert "--patience: expected" in wrong.stderr


PYTHON = """
import sys, numpy as np, staghorn
_, report = staghorn.Session(sys.argv[1], device="cpu").solve(0.4, "z2:3", patience=3)
assert report["rhs"][0]["iterations"] == 3 and "patience" in staghorn.Session.solve.__doc__
context = staghorn.Context(sys.argv[1])
x, y, z, t = context.local
b = np.ones((t, z, y, x, 3), complex)
gauge = context.read(sys.argv[1])
assert gauge.solve(0.4, b, patience=4)[1].iterations == 4
assert gauge.multishift([0.0, 1.0], b, mass=0.4, patience=4)[1].iterations <= 8
try:
    gauge.solve(0.4, b, patience="much")
except staghorn.Error as error:
    assert str(error).startswith("patience: expected"), error
else:
    assert False
"""


def test_a_new_option_is_a_row_for_python(with_patience, small_gauge):
    if not (with_patience / "python").is_dir():
        pytest.skip("built without Python")
    run(sys.executable, "-c", PYTHON, small_gauge,
        env={**os.environ, "PYTHONPATH": str(with_patience / "python"), "LD_LIBRARY_PATH": str(with_patience)})


@pytest.mark.parametrize("language, compiler, page, old, new", [
    ("c", "gcc -std=c99", "library-c.md", "request.sloppy = STAGHORN_FP32;", 'staghorn_request_set(&request, "patience", "3");'),
    ("fortran", "gfortran", "library-fortran.md", "request%mass = 0.5_c_double",
     "request%mass = 0.5_c_double\n  c = staghorn_request_set(request, 'patience' // c_null_char, '3' // c_null_char)")])
def test_a_new_option_is_a_row_for_hosts(with_patience, tmp_path, language, compiler, page, old, new):
    """The program of the page with that option."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} on this machine")
    interface = ROOT / "solver" / "interface"
    source = tmp_path / ("host.c" if language == "c" else "host.f90")
    text = block(page, language)
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    module = [] if language == "c" else [interface / "staghorn.f90"]
    run(*compiler.split(), *module, source, f"-I{interface}", with_patience / LIBRARY, "-o", "host", cwd=tmp_path)
    host = subprocess.run([tmp_path / "host"], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(with_patience)})
    assert re.search(r"after 3 iterations|^iterations 3,", host.stdout), host.stdout + host.stderr
