"""Recipes and numbers that stand outside of CMake agree with it, and what is installed can be removed again."""

from __future__ import annotations

import ast
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from installed_package import run

ROOT = Path(__file__).resolve().parents[2]
CMAKE_FILES = [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))]
RECIPES = [ROOT / "pyproject.toml", ROOT / "CMakePresets.json", *sorted((ROOT / "packaging").rglob("*.*")),
           ROOT / "packaging" / "Containerfile"]


def version() -> str:
    return re.search(r"project\(staghorn VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]


def options_of_cmake() -> set[str]:
    text = "\n".join(file.read_text() for file in CMAKE_FILES)
    return set(re.findall(r"\boption\((\w+)", text)) | set(re.findall(r"set\((\w+)[^)]*\bCACHE\b", text))


def options_named_in(text: str) -> set[str]:
    """As -DNAME=value of a command, as a line of pyproject.toml, as a key of the presets, or as Spack defines it."""
    ways = (r"-D(\w+)=", r"^((?:STAGHORN|BUILD)_\w+) = ", r'"([A-Z]+_[A-Z_]+)": ', r'\bdefine(?:_from_variant)?\("(\w+)"')
    return {name for way in ways for name in re.findall(way, text, re.MULTILINE)}


def test_options_in_recipes_and_on_the_page_of_installing_exist():
    known = options_of_cmake()
    assert {"STAGHORN_CUDA", "STAGHORN_INSTRUCTION_SETS", "BUILD_SHARED_LIBS"} <= known
    files = [*RECIPES, ROOT / "docs" / "guide" / "install.md"]
    named = {file.name: options_named_in(file.read_text()) for file in files}
    for name in ("pyproject.toml", "CMakePresets.json", "Containerfile", "package.py", "meta.yaml", "install.md"):
        assert named[name], f"{name}: no option found: this test reads the file wrongly"
    unknown = {f"{name}: {option}" for name, options in named.items() for option in options - known
               if not option.startswith(("CMAKE_", "Python_"))}
    assert not unknown, "no such option in CMakeLists.txt"


def test_version_of_every_recipe_is_that_of_cmake():
    number = version()
    found = {"CITATION.cff": re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1],
             "meta.yaml": re.search(r'set version = "(\S+)"', (ROOT / "packaging/conda/meta.yaml").read_text())[1],
             "package.py": re.search(r'^    version\("(\S+)"', (ROOT / "packaging/spack/package.py").read_text(), re.MULTILINE)[1],
             "CHANGELOG.md": re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1],
             "citing.md": re.search(r"`v(\d+\.\d+\.\d+)`", (ROOT / "docs/guide/citing.md").read_text())[1]}
    assert found == dict.fromkeys(found, number)


def test_pages_ask_for_the_minor_version_of_cmake():
    """find_package refuses another one."""
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "interfaces").glob("*.md"))
    asked = re.findall(r"find_package\([sS]taghorn (\d+\.\d+)", pages)
    assert asked and set(asked) == {version().rpartition(".")[0]}


def test_wheel_takes_its_version_from_cmake():
    """The expression of pyproject.toml finds the number, as scikit-build-core does."""
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project and not re.search(r"^version\s*=", project, re.MULTILINE)
    assert 'input = "CMakeLists.txt"' in project
    expression = re.search(r"^regex = '(.*)'$", project, re.MULTILINE)[1]
    found = re.search(expression, (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert found and found["value"] == version()


def test_program_and_package_say_the_version(staghorn):
    assert staghorn("--version", check=True).stdout.split()[:2] == ["staghorn", version()]


def test_recipes_are_well_formed():
    ast.parse((ROOT / "packaging" / "spack" / "package.py").read_text())
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    assert recipe.count("{{") == recipe.count("}}") and "\t" not in recipe
    yaml = pytest.importorskip("yaml")
    text = re.sub(r"\{%.*?%\}", "", recipe)  # as conda does: lines of Jinja go, words of Jinja become text
    known = yaml.safe_load(re.sub(r"\{\{(.*?)\}\}", lambda word: re.sub(r"\W", "", word[1]), text))
    assert {"package", "source", "build", "requirements", "test", "about"} == set(known)
    assert {"openmpi", "hdf5", "zlib", "nlohmann_json", "libboost-devel"} <= set(known["requirements"]["host"])


def test_containerfile_installs_what_dev_installs():
    """The packages by which ./dev builds, and for each of them the one that the program needs when it runs."""
    container = (ROOT / "packaging" / "Containerfile").read_text()
    build, use = container.split("FROM ")[2 - 1:]
    tools = re.sub(r"if \[\[ \$what == arm \]\].*?\n  fi", "", (ROOT / "dev").read_text(), flags=re.DOTALL)  # but for those of ./dev arm
    libraries = re.findall(r"APPEND missing ([\w.+-]+)", (ROOT / "cmake" / "search" / "CMakeLists.txt").read_text())
    assert len(libraries) >= 3
    for package in re.findall(r"\|\| echo ([a-z][\w.+-]*)$", tools, re.MULTILINE) + libraries:
        name = {"g++-12": "g++", "openmpi-bin": "libopenmpi-dev"}.get(package, package)
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", build), f"{package} is missing"
    assert {"openmpi-bin", "libopenmpi3", "libgomp1", "libhdf5-103-1", "zlib1g", "python3"} <= set(use.split())


@pytest.mark.parametrize("gpus, asked, architectures", [
    ("", "native", "90"), ("7.5", "native", "90"), ("12.0", "native", "120"), ("8.0\n9.0\n8.0", "native", "80-real;90"),
    ("10.0\n9.0", "native", "90-real;100"), ("9.0", "all", "80-real;90"), ("9.0", "86", "86")])
def test_gpu_code_is_for_the_gpus_of_this_machine_unless_others_are_asked_for(tmp_path, gpus, asked, architectures):
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on this machine")
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{gpus}\\n'\n" if gpus else "#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    said = run("cmake", f"-DSTAGHORN_CUDA_ARCHITECTURES={asked}", "-P", ROOT / "cmake" / "gpu_architectures.cmake",
               env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert said.splitlines()[-1] == f"-- GPU architectures: {architectures}"


@pytest.mark.slow
def test_cpu_kernels_are_those_of_this_machine_unless_others_are_asked_for(tmp_path):
    if shutil.which("cmake") is None or platform.machine() != "x86_64":
        pytest.skip("no cmake on this machine, or another processor than those that this test knows")
    flags = set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    best = "avx512" if {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags else "avx2" if {"avx2", "fma"} <= flags else "baseline"
    for asked, expected in (("native", best), ("all", "baseline;avx2;avx512"), ("avx2", "avx2")):
        said = run("cmake", "-S", ROOT, "-B", tmp_path, "-DSTAGHORN_CUDA=OFF", "-DSTAGHORN_MPI=OFF", "-DSTAGHORN_TESTS=OFF",
                   f"-DSTAGHORN_INSTRUCTION_SETS={asked}")
        assert f"-- CPU kernels: {expected}\n" in said
    none = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-DSTAGHORN_CUDA=OFF", "-DSTAGHORN_INSTRUCTION_SETS="], capture_output=True, text=True)
    assert none.returncode != 0 and "found none" in none.stderr


PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(little LANGUAGES NONE)
install(FILES one.h DESTINATION include/staghorn/dirac)
install(FILES one.h DESTINATION include)
include("{root}/cmake/uninstall.cmake")
"""


@pytest.fixture
def little(tmp_path):
    """The build folder of a project that installs a file twice."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on this machine")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT))
    (tmp_path / "one.h").write_text("")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_INSTALL_PREFIX={tmp_path}/prefix")
    return tmp_path / "build"


def test_uninstall_removes_what_was_installed_and_nothing_else(little):
    prefix = little.parent / "prefix"
    (prefix / "include").mkdir(parents=True)
    (prefix / "include" / "other.h").write_text("")
    run("cmake", "--install", little)
    assert (prefix / "include" / "staghorn" / "dirac" / "one.h").is_file() and (prefix / "include" / "one.h").is_file()
    run("cmake", "--build", little, "--target", "uninstall")
    assert sorted(path.relative_to(prefix).as_posix() for path in prefix.rglob("*")) == ["include", "include/other.h"]


def test_uninstall_keeps_a_folder_with_a_file_of_somebody_else(little):
    run("cmake", "--install", little)
    stranger = little.parent / "prefix" / "include" / "staghorn" / "notes.txt"
    stranger.write_text("")
    run("cmake", "--build", little, "--target", "uninstall")
    assert stranger.is_file() and not (stranger.parent / "dirac").exists()


def test_uninstall_without_an_installation_says_so(little):
    refused = subprocess.run(["cmake", "--build", little, "--target", "uninstall"], capture_output=True, text=True)
    assert refused.returncode != 0
    assert "install_manifest.txt" in refused.stdout + refused.stderr


@pytest.mark.slow
def test_installation_has_no_strays(installed):
    """What lies where. Nothing of the build, of the tests or of the wheel."""
    patterns = [r"bin/staghorn", r"include/staghorn(_mpi)?\.h", r"include/staghorn_cps(_connection)?\.hpp", r"include/staghorn\.f90",
                r"include/staghorn/(halo|dirac|lattice_io|solver)/[\w/]+\.hpp", r"include/staghorn_milc/quda(_milc_interface)?\.h",
                r"lib\S*/libstaghorn(_milc)?\.so[.\d]*", r"lib\S*/libstaghorn_core\.(a|so[.\d]*)",
                r"lib\S*/cmake/Staghorn/Staghorn(Config|ConfigVersion|(Core)?Targets|(Core)?Targets-\w+)\.cmake",
                r"lib\S*/pkgconfig/staghorn(_milc)?\.pc", r"share/staghorn/report\.schema\.json"]
    files = [path.relative_to(installed).as_posix() for path in installed.rglob("*") if not path.is_dir()]
    assert all(any(re.fullmatch(pattern, file) for file in files) for pattern in patterns)
    assert not [file for file in files if not any(re.fullmatch(pattern, file) for pattern in patterns)]


@pytest.mark.slow
def test_stripped_program_is_as_small_as_the_page_of_installing_says(installed, tmp_path):
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("no strip on this machine")
    run(strip, "-o", tmp_path / "staghorn", installed / "bin" / "staghorn")
    page = (ROOT / "docs" / "guide" / "install.md").read_text()
    without, with_cuda = map(int, re.search(r"less than (\d+) MB, with CUDA less than (\d+) MB", page).groups())
    assert with_cuda < 60
    has_cuda = b"libcudart" in (installed / "bin" / "staghorn").read_bytes() or b"cudaMalloc" in (installed / "bin" / "staghorn").read_bytes()
    assert (tmp_path / "staghorn").stat().st_size < 1e6 * (with_cuda if has_cuda else without)
