"""What the how-to pages promise: a new observable or preconditioner is one file and one row, and all the rest knows it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
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
  void take(std::size_t mass, std::size_t, const VectorField& x, const std::function<const VectorField&()>&) override {
    norms_[mass].assign(std::size_t(x.lattice().global()[3]), 0);
    for (std::int64_t site = 0; site < x.size(); ++site)
      norms_[mass][std::size_t(x.lattice().to_global(x.lattice().site_coordinates(site))[3])] += norm2(x[site]);
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


def commands_of(build: Path, target: str) -> list[str]:
    if shutil.which("ninja") is None or not (build / "build.ninja").is_file():
        pytest.skip("the program is not in a build folder of ninja")
    return subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True).stdout.splitlines()


def linked_with(build: Path, sources: list[Path], program: Path) -> None:
    """The program with `sources` in place of those of its library that define the same."""
    commands = [line for line in commands_of(build, "staghorn") if not line.startswith("ninja:")]
    compile_one = next(shlex.split(line) for line in commands if line.endswith("/program/main.cpp"))
    compiler = next(k for k, word in enumerate(compile_one) if Path(word).name in ("c++", "g++", "clang++"))
    kept = [word for word in compile_one[compiler:] if word.startswith(("-D", "-I", "-f", "-std", "-m")) or word == "-isystem" or word.startswith("/usr")]
    objects = []
    for source in sources:
        objects.append(source.with_suffix(".o"))
        subprocess.run([*kept, "-O0", "-c", source, "-o", objects[-1]], check=True, cwd=build)
    link = shlex.split(next(line for line in reversed(commands) if " -o staghorn " in line))
    words = link[link.index(":") + 2: -2] if link[0] == ":" else link
    place = words.index("-o")
    words[place + 1] = str(program)
    subprocess.run([*words[:place], "-Wl,--allow-multiple-definition", *map(str, objects), *words[place:]], check=True, cwd=build)


@pytest.fixture(scope="module")
def with_norm(program, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("observable")
    table = (ROOT / "solver/observables/observable_table.cpp").read_text()
    table = re.sub(r"\n\nstd::span<const Obs", r"\nObservableEntry norm();\n\nstd::span<const Obs", table, count=1)
    table = table.replace("chiral_condensate()};", "chiral_condensate(), norm()};")
    assert table.count("norm()") == 2
    (folder / "observable_table.cpp").write_text(table)
    (folder / "norm.cpp").write_text(NORM)
    linked_with(program.parent, [folder / "observable_table.cpp", folder / "norm.cpp"], folder / "staghorn")
    return folder / "staghorn"


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
    linked_with(program.parent, [tmp_path / "preconditioner_table.cpp", tmp_path / "identity.cpp"], tmp_path / "staghorn")
    solve = ["solve", "--gauge", small_gauge, "--device", "cpu", "--mass", "0.2", "--color", "0", "--report", tmp_path / "r.json", "--force"]
    iterations = []
    for options in ([], ["--preconditioner", "identity:1"]):
        done = subprocess.run([tmp_path / "staghorn", *solve, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        iterations.append(json.loads((tmp_path / "r.json").read_text())["rhs"][0]["iterations"])
    assert abs(iterations[1] - iterations[0]) <= 2  # CG itself
    refused = subprocess.run([tmp_path / "staghorn", *solve, "--preconditioner", "identity:2"], capture_output=True, text=True)
    assert refused.returncode == 1 and "identity:N with 1 to 1 for nothing" in refused.stderr
