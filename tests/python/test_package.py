"""What a wheel brings: the modules beside the Python sources, and the program with its command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_package import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def package(program, tmp_path_factory):
    """A folder with the package as a wheel holds it."""
    if not (program.parent / "python" / "staghorn").is_dir() or shutil.which("cmake") is None:
        pytest.skip("the Python package is not built, or there is no cmake")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "python" / "staghorn", folder / "staghorn")
    run("cmake", "--install", program.parent, "--component", "python", "--prefix", folder)
    return folder


def python(package, code, *words):
    return subprocess.run([sys.executable, "-c", code, *words], cwd=package, env={"PYTHONPATH": str(package), "PATH": "/usr/bin:/bin"},
                          capture_output=True, text=True)


def test_package_has_its_modules_its_types_and_the_program(package):
    files = {path.name.split(".")[0] for path in (package / "staghorn").iterdir()}
    assert {"_native", "_interface", "libstaghorn", "bin", "py"} <= files


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
@pytest.mark.parametrize("module", ["_native", "_interface"])
def test_a_module_shows_its_entry_alone(package, module):
    """Parts of a libstdc++ that is linked statically would be shared with that of other modules, as NumPy's: a crash."""
    (library,) = (package / "staghorn").glob(f"{module}.*.so")
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[-1] for line in lines] == [f"PyInit_{module}"]


def test_command_is_the_program_in_place_of_python(package):
    entry = re.search(r'^staghorn = "staghorn\.program:main"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert entry
    done = python(package, "from staghorn.program import main; main()", "solve", "--frobnicate")
    assert done.returncode == 2 and "unknown option 'frobnicate' of solve" in done.stderr
    assert python(package, "from staghorn.program import main; main()", "--version").stdout.startswith("staghorn 0.")


def test_package_names_its_version(package):
    done = python(package, "import staghorn; print(staghorn.__version__, staghorn.__file__)")
    version, file = done.stdout.split()
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert version == re.search(r"project\(staghorn VERSION (\S+)", cmake)[1] and Path(file).is_relative_to(package)


def test_package_is_used_where_there_is_no_compiler(package, tmp_path):
    """What `./dev wheel` asks of the wheel itself, in an environment of its own."""
    pytest.importorskip("matplotlib")
    command = [sys.executable, ROOT / "tests" / "first_use.py", sys.executable, "-c", "from staghorn.program import main; main()"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(package), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == package / "staghorn"


@pytest.fixture(scope="module")
def package_without_mpi(package, tmp_path_factory):
    """The package, as on a machine without its MPI: in its compiled files the library has the name of one that no machine has."""
    folder = tmp_path_factory.mktemp("without-mpi")
    shutil.copytree(package / "staghorn", folder / "staghorn")
    changed = 0
    for path in [*(folder / "staghorn").glob("*.so*"), folder / "staghorn" / "bin" / "staghorn"]:
        code = path.read_bytes()
        other = re.sub(rb"\0libmpi\.so\.\d\d\0", b"\0libmpi.so.xx\0", code)
        changed += other != code
        path.write_bytes(other)
    if not changed:
        pytest.skip("the MPI of this machine is no libmpi.so.NN")
    return folder


def test_package_without_its_mpi_says_so(package_without_mpi):
    for use in ("staghorn.Session", "staghorn.Context", "staghorn.__version__"):
        done = python(package_without_mpi, f"import staghorn; {use}")
        last = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 1 and last.startswith("ImportError: libmpi.so.xx was not found: the MPI that"), done.stderr
        assert "libopenmpi3" in last and "LD_LIBRARY_PATH" in last
    works = python(package_without_mpi, "import staghorn; print(staghorn.reference.__name__)")
    assert works.stdout == "staghorn.reference\n", works.stderr


def test_program_without_its_mpi_names_the_library(package_without_mpi):
    done = python(package_without_mpi, "from staghorn.program import main; main()", "--version")
    assert done.returncode == 127 and "libmpi.so.xx" in done.stderr, done.stderr


def test_wheels_are_built_without_cuda_unless_it_is_asked_for():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'STAGHORN_CUDA = { env = "STAGHORN_CUDA", default = "OFF" }' in text


def test_full_installation_has_no_part_of_the_wheel(installed):
    assert not (installed / "staghorn").exists()
