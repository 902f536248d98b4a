"""libstaghorn_milc.so as MILC sees it: programs with MILC's fields get the solutions of the program, to the last bit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from installed_package import run
from solve_files import read_solution, with_checksums, write_source

ROOT = Path(__file__).resolve().parents[3]
EXTENTS = (4, 4, 6, 8)

# A line of the library for each call, where the host wants it.
LINE = re.compile(r"staghorn: (?P<call>\w+): links (?P<links>\w+) in [\d.]+ s( beside the solve, which waited (?P<waited>[\d.]+) s)?"
                  r"(, after [\d.]+ s and (?P<lost>\d+) iterations with the last ones)?(;.*: (?P<iterations>\d+) iterations.*)?")


def lines_of(text):
    return [match.groupdict() for match in map(LINE.fullmatch, text.splitlines()) if match]


def hash_links(when):
    """The environment that makes calls hash links "first" or "beside" their solves, as they do on CPUs and on GPUs by themselves."""
    return {"STAGHORN_MILC_HASH": when}


@pytest.fixture(scope="module")
def written(run_built, tmp_path_factory):
    """The file of milc_host, after all of its checks in one process: see there."""
    path = tmp_path_factory.mktemp("milc") / "fields"
    result = run_built("milc_host", "write", path, threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
    return path


def write_links(path: Path, reals: np.ndarray) -> Path:
    """The links at the start of `reals`, as a file of the program."""
    with h5py.File(path, "w") as file:
        file["links"] = reals[: 36 * int(np.prod(EXTENTS))].reshape(*EXTENTS[::-1], 4, 3, 3)
        with_checksums(file["links"])
    return path


@pytest.mark.parametrize("which, options", list(enumerate([["--sloppy", "none"], ["--sloppy", "none"], ["--sloppy", "fp32"], ["--sloppy", "fp32"], ["--sloppy", "fp16"],
                                                           ["--sloppy", "fp16"]])))
def test_milc_gets_the_bits_of_the_program(staghorn, written, tmp_path, which, options):
    reals = np.fromfile(written).view(np.complex128)
    shape, sites = EXTENTS[::-1], int(np.prod(EXTENTS))
    write_links(tmp_path / "links.h5", reals)
    vectors = reals[36 * sites :].reshape(-1, *shape, 3)
    write_source(tmp_path / "source.h5", vectors[0])
    system = ["even", "odd"][which % 2]
    staghorn("solve", "--gauge", tmp_path / "links.h5", "--source", f"file:{tmp_path / 'source.h5'}", "--mass", 0.3, "--system", system,
             "--tolerance", repr(float(np.nextafter(1e-10, 0))), *options, "--output", tmp_path / "x.h5", check=True)
    assert read_solution(tmp_path / "x.h5")[0].tobytes() == vectors[1 + which].tobytes()


@pytest.mark.mpi
@pytest.mark.parametrize("grid, hashes", [("1 1 1 2", "first"), ("1 1 1 2", "beside"), ("1 2 1 1", "first")])
def test_milc_on_ranks_gets_the_same_bits(run_built, written, grid, hashes):
    result = run_built("milc_host", "check", written, *grid.split(), ranks=2, threads=1, env=hash_links(hashes))
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


def test_links_are_read_where_they_have_changed_and_only_there(run_built):
    result = run_built("milc_host", "reads", threads=2)
    assert result.returncode == 0, result.stdout + result.stderr
    assert [(line["call"], line["links"]) for line in lines_of(result.stdout)] == [
        ("qudaInvert", "read"), ("qudaInvert", "unchanged"), ("qudaDslash", "unchanged"), ("qudaInvert", "read"),
        ("qudaInvert", "unchanged"), ("qudaInvert", "read"), ("qudaInvert", "read")]


def test_links_hashed_beside_solves_give_the_same_bits(run_built, written, tmp_path):
    result = run_built("milc_host", "write", tmp_path / "fields", threads=1, env=hash_links("beside"))
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
    assert (tmp_path / "fields").read_bytes() == written.read_bytes()


def check_answers_after_changes(result):
    """That of milc_changes, whose answers were hashed beside their solves: three lines a kind of call."""
    assert result.returncode == 0, result.stdout + result.stderr
    lines = lines_of(result.stdout)
    assert len(lines) == 2 * (1 + 4 * 3) and [line["links"] for line in lines] == 2 * ["read", *4 * ["unchanged", "read", "read"]]
    beside = [line for line in lines if line["waited"] or line["lost"]]
    assert beside == [line for k, line in enumerate(lines) if k % 13 and k % 13 % 3 != 0], "a fresh start has no links to solve with"
    for line in beside:
        lost, needed = int(line["lost"] or 0), int(line["iterations"])
        assert line["links"] == "unchanged" or (10 <= lost < 0.7 * needed if needed > 7 else lost < 10)  # stopped early, or after its end


@pytest.mark.parametrize("grid", ["", pytest.param("1 1 1 2", marks=pytest.mark.mpi)], ids=["alone", "changed-on-one-of-two"])
def test_an_answer_after_a_change_is_that_of_a_fresh_start(run_built, grid):
    """Of one source, several, several masses, and few iterations; in fp32 and fp64."""
    check_answers_after_changes(
        run_built("milc_changes", *grid.split(), ranks=2 if grid else 1, threads=1 if grid else 2, env=hash_links("beside")))


@pytest.mark.mpi
def test_a_solve_that_fails_beside_a_hash_is_one_line_and_the_end(run_built):
    result = run_built("milc_changes", "fails", 1, 1, 1, 2, ranks=2, threads=1,
                       env={**hash_links("beside"), "STAGHORN_FAIL_MPI": "1:200 in CG iterations"})
    assert result.returncode not in (0, 2) and len(lines_of(result.stdout)) == 1 and "went through" not in result.stdout
    (line,) = re.findall(r"^staghorn: .*", result.stderr, re.MULTILINE)
    assert re.fullmatch(r"staghorn: qudaInvert: rank 1: MPI_\w+: .*", line)


def test_an_unknown_time_for_hashes_is_refused(run_built):
    result = run_built("milc_host", "reads", threads=1, env=hash_links("later"))
    assert result.returncode == 1
    assert result.stderr == "staghorn: qudaInit: STAGHORN_MILC_HASH: expected first or beside, found later\n"


@pytest.mark.parametrize("what, text", {
    "early": r"qudaInvert: lattice: expected qudaInit before, found none",
    "sign": r"qudaInvert: links as given: U_x at \(3, 2, 5, 7\): expected .*",
    "target": r"qudaInvert: target residual: expected 0, or a number below 1, found 1\.5",
    "precision": r"qudaInvert: external_precision: expected 1 to 2, found 3",
    "null": r"qudaInvert: x\[i\]: expected a pointer, found NULL",
    "lattice": r"qudaInit: lattice: expected even extents .*, found 4x5x6x8"}.items(), ids=lambda value: value if value.isalpha() else "")
def test_an_error_is_one_line_and_the_end(run_built, what, text):
    result = run_built("milc_host", "fail", what, threads=1)
    assert result.returncode == 1 and result.stdout == "", result.stdout + result.stderr
    assert re.fullmatch(f"staghorn: {text}\n", result.stderr), result.stderr


@pytest.mark.mpi
def test_an_error_of_ranks_is_one_line_and_the_end(run_built):
    result = run_built("milc_host", "fail-ranks", ranks=2, threads=1)
    assert result.returncode not in (0, 2)
    assert len(re.findall(r"^staghorn: ", result.stderr, re.MULTILINE)) == 1, result.stderr
    assert "staghorn: qudaInit: geometry.grid 1x1x1x4: expected 2 processes, found 4\n" in result.stderr


def test_random_calls_come_back_or_end_in_the_way_of_the_host(run_built):
    result = run_built("milc_random_calls", 1500, threads=1)
    assert result.returncode == 0, result.stdout + result.stderr
    beside = run_built("milc_random_calls", 1500, threads=1, env=hash_links("beside"))
    assert beside.stdout == result.stdout, beside.stdout + beside.stderr
    back, ended, judged, lies = map(int, re.fullmatch(r"back (\d+) ended (\d+) judged (\d+) lies (\d+)\n", result.stdout).groups())
    assert min(back, ended) > 300 and judged > 0 and lies == 0


def raw_links(folder: Path) -> Path:
    """Fat and long links in plain order, as raw doubles that float can hold."""
    links = [h5py.File(folder / f"{kind}.h5")["links"][...].astype(np.complex128) for kind in ("fat", "long")]
    np.concatenate([u.ravel() for u in links]).tofile(folder / "links")
    return folder / "links"


@pytest.fixture(scope="module", params=["naive", "asqtad", "hisq"])
def several_masses(request, run_built, staghorn, written, tmp_path_factory):
    """(options of the program for the links, links for milc_improved, its file after all checks in one process)."""
    folder = tmp_path_factory.mktemp("improved")
    if request.param == "naive":
        links, options = "naive", ["--gauge", write_links(folder / "thin.h5", np.fromfile(written).view(np.complex128))]
    else:
        # Not a random configuration: determinants of its fat links tell their signs, as those of real ones do.
        staghorn("generate", "--lattice", *EXTENTS, "--beta", 6, "--sweeps", 10, "--seed", 5, "--device", "cpu", "--output",
                 folder / "thin.h5", check=True)
        staghorn("smear", "--gauge", folder / "thin.h5", "--action", request.param, "--fat", folder / "fat.h5", "--long",
                 folder / "long.h5", "--precision", "fp32", check=True)
        with h5py.File(folder / "long.h5", "a") as file:
            del file["links"].attrs["coefficient"]  # which MILC does not tell: it is found from the links
        links, options = raw_links(folder), ["--fat", folder / "fat.h5", "--long", folder / "long.h5"]
    result = run_built("milc_improved", links, folder / "solutions", threads=1)
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
    return options, links, folder / "solutions"


def test_improved_quarks_and_several_masses_give_the_bits_of_the_program(staghorn, several_masses, tmp_path):
    options, _, file = several_masses
    source, even, odd, *together = np.fromfile(file).view(np.complex128).reshape(-1, *EXTENTS[::-1], 3)
    write_source(tmp_path / "source.h5", source)

    def solved(*how):
        staghorn("solve", *options, "--sloppy", "none", "--source", f"file:{tmp_path / 'source.h5'}", "--tolerance", repr(float(np.nextafter(1e-10, 0))),
                 *how, "--output", tmp_path / "x.h5", "--force", check=True)
        return [x.tobytes() for x in read_solution(tmp_path / "x.h5")]

    assert solved("--mass", 0.3, "--system", "even") == [even.tobytes()]
    assert solved("--mass", 0.3, "--system", "odd") == [odd.tobytes()]
    assert solved("--masses", "0.3,0.5,1.25", "--system", "even") == [x.tobytes() for x in together[:3]]
    assert together[3].tobytes() == together[0].tobytes() and together[4].tobytes() != together[1].tobytes()


@pytest.mark.mpi
@pytest.mark.parametrize("hashes", ["first", "beside"])
def test_improved_quarks_and_several_masses_on_ranks_give_the_same_bits(run_built, several_masses, hashes):
    _, links, file = several_masses
    result = run_built("milc_improved", links, file, 1, 1, 1, 2, ranks=2, threads=1, env=hash_links(hashes))
    assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr


PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(host LANGUAGES C)
find_package(Staghorn 0.2 REQUIRED)
add_executable(host random_calls.c)
set_target_properties(host PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_link_libraries(host PRIVATE Staghorn::staghorn_milc m)
"""


def assert_works(program, **environment):
    assert re.match(r"back \d{2,} ended \d{2,} ", run(program, 100, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}))


@pytest.mark.slow
def test_hosts_link_the_installed_library_as_the_page_says(installed, tmp_path):
    """By the makefile's variables, by pkg-config, by CMake; the last without MPI and without the packages of the library."""
    library = next(installed.rglob("libstaghorn_milc.so")).parent
    source = Path(__file__).parent / "random_calls.c"
    page = (ROOT / "docs" / "interfaces" / "milc.md").read_text()
    flags = [re.search(rf'{name}="?(.*?)"?( \\|)$', page, re.MULTILINE)[1].replace("$STAGHORN/lib", str(library)).replace("$STAGHORN", str(installed))
             for name in (" INCQUDA", "LIBQUDA")]
    by_hand = ["gcc", "-std=c99", source, "-o", tmp_path / "by_hand", *" ".join(flags).split(), "-lm"]
    run(*by_hand)
    assert_works(tmp_path / "by_hand")

    if shutil.which("pkg-config"):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig")}
        run("gcc", "-std=c99", source, "-o", tmp_path / "by_pkg_config",
            *run("pkg-config", "--cflags", "--libs", "staghorn_milc", env=environment).split(), "-lm")
        assert_works(tmp_path / "by_pkg_config")

    for name in ("random_calls.c", "milc_fields.h"):
        shutil.copy(source.parent / name, tmp_path)
    shutil.copytree(source.parent.parent / "hosts", tmp_path.parent / "hosts", dirs_exist_ok=True)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}",
        *[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("CUDAToolkit", "nlohmann_json", "MPI", "OpenMP", "ZLIB")])
    run("cmake", "--build", tmp_path / "build")
    assert_works(tmp_path / "build" / "host")


@pytest.mark.gpu
def test_calls_on_a_gpu_give_the_bits_of_the_cpu(run_built, written, several_masses, tmp_path):
    """Vectors travel as they lie in memory and are converted on the GPU; residuals are recomputed there."""
    _, links, file = several_masses
    for program, arguments, expected in [("milc_host", ["write"], written), ("milc_improved", [links], file)]:
        solutions = {}
        for devices in ("", "0"):
            result = run_built(program, *arguments, tmp_path / "found", threads=2, env={"CUDA_VISIBLE_DEVICES": devices})
            assert result.returncode == 0 and result.stdout.strip() == "ok", result.stdout + result.stderr
            solutions[devices] = (tmp_path / "found").read_bytes()
        assert solutions[""] == solutions["0"] == expected.read_bytes()
    failing = run_built("milc_host", "write", tmp_path / "none", threads=2, env={"STAGHORN_FAIL_CUDA": "0:200"})
    assert failing.returncode == 1 and re.match(r"staghorn: quda\w+: .*cuda", failing.stderr), "the GPU was not used"


@pytest.mark.gpu
@pytest.mark.parametrize("grid", ["", pytest.param("1 1 1 2", marks=pytest.mark.mpi)], ids=["alone", "changed-on-one-of-two"])
def test_calls_on_a_gpu_hash_links_beside_their_solves(run_built, grid):
    check_answers_after_changes(run_built("milc_changes", *grid.split(), ranks=2 if grid else 1, threads=2))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [1, 2])
def test_a_call_on_a_gpu_is_timed_with_its_hash_first_and_beside(run_built, precision):
    """What milc_overhead shows; how long a call waits for its hash, `./dev measure --compare` tells."""
    result = run_built("milc_overhead", precision, 8, 8, 8, 16, 2)
    assert result.returncode == 0, result.stdout + result.stderr
    for when in ("first", "beside"):
        assert re.search(rf"hashes {when}: .*?iterations [\d.]+ ms, [\d.]+ us each: beside them [\d.]+ ms", result.stdout)
    assert re.search(r"unchanged in [\d.]+ s beside the solve, which waited [\d.]+ s", result.stdout) and "bus: " in result.stdout
