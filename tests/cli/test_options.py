"""Options: on the line, in an .ini file, explained by --help, and refused with a hint."""

from __future__ import annotations

import pytest

COMMANDS = ["solve", "eigen", "inspect", "convert", "generate", "smear", "bench", "report", "plan"]
# Open MPI 4.1 looks for these in the whole line, the program's part among it.
OF_MPIRUN = ["--tune", "--am", "--mca", "--gmca"]


def test_version(staghorn):
    assert staghorn("--version", check=True).stdout.startswith("staghorn 0.")


def test_help_lists_the_commands(staghorn):
    text = staghorn("--help", check=True).stdout
    assert all(f"  {command} " in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(staghorn, command):
    result = staghorn(command, "--help", check=True)
    assert result.stdout.startswith(f"usage: staghorn {command}")
    assert result.stderr == ""
    assert not set(OF_MPIRUN) & set(result.stdout.split())


def test_short_help_is_the_long_one(staghorn):
    assert staghorn("solve", "-h", check=True).stdout == staghorn("solve", "--help", check=True).stdout


def test_solve_help_is_grouped_with_defaults(staghorn):
    text = staghorn("solve", "--help", check=True).stdout
    assert all(f"{group}:" in text for group in ("Problem", "Solver", "Operator", "Machine", "Files"))
    assert "(=fp64)" in text and "1e-10 in fp64" in text and "units of pi" in text


def test_solver_is_chosen_by_name(solve):
    """The rest is in docs/development/how-to-add-a-solver.md."""
    chosen = solve("--solver", "cg")
    assert chosen.returncode == 0 and chosen.report["solver"] == "cg"
    assert solve("--sloppy", "fp32", "--solver", "mixed", name="mixed").report["solver"] == "mixed"
    for options in (["--sloppy", "none", "--solver", "mixed"], ["--sloppy", "fp32", "--solver", "cg"], ["--solver", "gmres"]):
        result = solve(*options, name="refused")
        assert result.returncode in (1, 2) and "solver" in result.stderr and options[-1] in result.stderr


@pytest.mark.parametrize("arguments, words", [
    ([], ["--help"]),
    (["solv"], ["unknown command 'solv'", "'solve'"]),
    (["frobnicate"], ["unknown command 'frobnicate'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--tolerence", "1"], ["unknown option 'tolerence'", "'tolerance'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--max", "1"], ["unknown option 'max'", "'max-iterations'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--tol", "1"], ["unknown option 'tol'", "'tolerance'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--iterations", "1"], ["unknown option 'iterations'", "'max-iterations'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--maxiter", "1"], ["unknown option 'maxiter'", "'max-iterations'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--noise_vectors", "1"], ["unknown option 'noise_vectors'", "'noise-vectors'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--verify"], ["unknown option 'verify'", "'no-verify'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--sloppy-precision", "x"], ["unknown option 'sloppy-precision'", "'sloppy'"]),
    (["solve", "--gauge", "f", "-mass", "1"], ["'-mass' is no option of solve", "two dashes", "'mass'"]),
    (["solve", "--mass", "1"], ["--gauge", "required"]),
    (["solve", "--gauge", "f"], ["--mass", "required"]),
    (["solve", "--gauge", "f", "--mass", "light"], ["--mass", "light"]),
    (["solve", "--gauge", "f", "--mass"], ["--mass"]),
    (["solve", "--gauge", "f", "--mass", "1", "stray"], ["'stray'", "solve --help"]),
    (["inspect", "f", "second"], ["'second'", "inspect --help"]),
    (["solve", "--gauge", "f", "--mass", "1", "--frobnicate", "1"], ["unknown option 'frobnicate' of solve. `staghorn"]),
    (["solve", "--gauge", "f", "--mass", "1", "--system", "both"], ["--system", "full, even or odd", "both"]),
    (["solve", "--gauge", "f", "--mass", "1", "--precision", "fp8"], ["--precision", "fp64", "fp8"]),
    (["solve", "--gauge", "f", "--mass", "1", "--links", "9"], ["--links", "18", "9"]),
    (["solve", "--gauge", "f", "--mass", "1", "--phases", "x"], ["--phases", "milc", "x"]),
    (["solve", "--gauge", "f", "--mass", "1", "--boundary", "periodic"], ["--boundary", "px,py,pz,pt"]),
    (["solve", "--gauge", "f", "--mass", "1", "--source", "pont:0"], ["--source", "point:x,y,z,t", "pont:0"]),
    (["solve", "--gauge", "f", "--mass", "1", "--source", "point:0,0"], ["--source", "x,y,z,t"]),
    (["solve", "--gauge", "f", "--mass", "1", "--color", "red"], ["--color", "red"]),
    (["solve", "--gauge", "f", "--mass", "1", "--grid", "1,1,2"], ["--grid", "1,1,2"]),
    (["solve", "--gauge", "f", "--mass", "1", "--loopback", "w"], ["--loopback", "w"]),
    (["solve", "--gauge", "f", "--mass", "1", "--noise-vectors", "0"], ["--noise-vectors", "0"]),
    (["solve", "--gauge", "f", "--mass", "1", "--max-iterations", "many"], ["--max-iterations", "many"]),
    (["solve", "--gauge", "f", "--mass", "1", "--transport", "pigeon"], ["--transport", "auto or one of mpi", "'pigeon'"]),
    (["solve", "--gauge", "f", "--mass", "1", "--precision", "fp46"], ["found 'fp46'. Did you mean 'fp64'?"]),
    (["solve", "--gauge", "f", "--mass", "1", "--source", "pont:0,0,0,0"], ["found 'pont:0,0,0,0'. Did you mean 'point'?"]),
    (["smear", "--gauge", "f", "--action", "hisk", "--fat", "a", "--long", "b"], ["--action", "Did you mean 'hisq'?"]),
    (["convert", "in", "out", "--format", "nersk"], ["--format", "Did you mean 'nersc'?"]),
    (["generate", "--lattice", "4x4x4x4", "--sweeps", "few", "--output", "f"], ["--sweeps: expected a whole number, found 'few'"]),
    (["solve", "--gauge", "f", "--mass", "0.1,0.2"], ["--mass: expected a number; several are --masses, found '0.1,0.2'"]),
    (["generate", "--lattice", "4x4x4x4", "--beta", "x", "--output", "f"], ["--beta: expected a number, found 'x'"]),
    (["convert", "in", "out"], ["--format", "required"]),
    (["convert", "in", "out", "--format", "tar"], ["--format", "nersc", "tar"]),
    (["inspect"], ["required"]),
    (["generate", "--lattice", "4", "4", "4", "--output", "f"], ["--lattice", "x, y, z, t", "4 4 4"]),
    (["generate", "--lattice", "4x4x4x4", "--sweeps", "3", "--output", "f"], ["--beta"]),
    (["generate", "--lattice", "4x4x4x4", "--format", "nersc", "--rows", "1", "--output", "f"], ["--rows", "2 or 3", "1"]),
    (["generate", "--lattice", "4x4x4x4", "--format", "milc", "--rows", "2", "--output", "f"], ["--rows", "nersc", "milc"]),
    (["generate", "--start", "hot", "--output", "f"], ["--lattice is required"]),
    (["generate", "--lattice", "4x4x4x4"], ["--output is required"]),
    (["generate", "--lattice", "4x4x4x4", "--output", "f", "--save-every", "2"], ["--save-every and --save-as"]),
    (["generate", "--lattice", "4x4x4x4", "--save-every", "2", "--save-as", "q.h5"], ["--save-as", "{n:04}", "'q.h5'"]),
    (["generate", "--lattice", "4x4x4x4", "--save-every", "2", "--save-as", "q_{k}.h5"], ["--save-as", "'q_{k}.h5'"]),
    (["generate", "--lattice", "4x4x4x4", "--save-every", "2", "--save-as", "q_{n}_{n}.h5"], ["--save-as", "{n:04}"]),
    (["generate", "--lattice", "4x4x4x4", "--save-every", "-2", "--output", "f"], ["--save-every", "at least 0"]),
])
def test_wrong_usage(staghorn, expect_error, arguments, words):
    expect_error(staghorn(*arguments), 2, *words)


def test_options_from_a_file(staghorn, small_gauge, expect_error, tmp_path, solve):
    ini = tmp_path / "run.ini"
    ini.write_text(f"# a comment\n[problem]\ngauge = {small_gauge}\nmass = 0.7\ncolor = 0\n\n[solver]\ntolerance = 1e-6\n"
                   "force = true\nboundary = periodic,periodic,periodic,0.5\n")
    import json

    report = tmp_path / "report.json"
    report.write_text("to be replaced")
    staghorn("solve", "--config", ini, "--report", report, "--tolerance", "1e-7", check=True)
    found = json.loads(report.read_text())
    assert found["mass"] == 0.7 and found["tolerance"] == 1e-7  # the line wins
    assert found["boundary"] == "periodic,periodic,periodic,0.5"
    switches = ini.read_text().replace("force = true", "reunitarize\n  force  # a switch needs no value")
    ini.write_text(switches)
    staghorn("solve", "--config", ini, "--report", report, check=True)
    assert json.loads(report.read_text())["gauge"]["reunitarized"]
    ini.write_text("gauge = f\nmas = 1\n")
    expect_error(staghorn("solve", "--config", ini), 2, ini, "unknown option 'mas'", "'mass'")
    ini.write_text("gauge = f\nthis is no option\n")
    expect_error(staghorn("solve", "--config", ini), 2, ini)
    expect_error(staghorn("solve", "--config", tmp_path / "absent.ini"), 1, tmp_path / "absent.ini")


def test_quiet_prints_nothing(solve):
    result = solve("--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_first_line_says_what_runs_where(solve):
    first = solve("--precision", "fp32", "--links", 12, threads=1).stdout.splitlines()[0]
    assert all(part in first for part in ("cpu", "fp32", "12 reals", "1 rank", "1 thread"))
    first = solve("--sloppy", "fp32", "--sloppy-links", 8, name="mixed").stdout.splitlines()[0]
    assert "fp64/fp32, 18/8 reals a link" in first


def test_log_lines_have_no_control_characters(solve):
    assert not any(character in solve(mass=0.05).stdout for character in "\r\033")


def test_lattice_in_one_word(staghorn, tmp_path):
    for number, words in enumerate([["4x4x4x6"], ["4,4,4,6"], ["4", "4", "4", "6"]]):
        path = tmp_path / f"{number}.h5"
        staghorn("generate", "--lattice", *words, "--start", "cold", "--output", path, check=True)
        assert "4x4x4x6" in staghorn("inspect", path, check=True).stdout


def test_generate_measures_on_request(staghorn, tmp_path):
    result = staghorn("generate", "--lattice", "4x4x4x4", "--beta", 5.7, "--sweeps", 4, "--measure-every", 2, "--seed", 3,
                      "--output", tmp_path / "g", "--format", "nersc", check=True)
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("sweep") and "plaquette" in line] == ["0", "2", "4"]


def test_two_rows_are_stored_on_request(staghorn, small_gauge, tmp_path):
    """Two rows are two thirds of the bytes; they stay two through convert unless three are asked for."""
    size = {}
    for name, source, options in [("three", small_gauge, []), ("two", small_gauge, ["--rows", 2]),
                                  ("kept", tmp_path / "two", []), ("back", tmp_path / "two", ["--rows", 3])]:
        staghorn("convert", source, tmp_path / name, "--format", "nersc", *options, check=True)
        data = (tmp_path / name).read_bytes()
        size[name] = len(data) - data.index(b"END_HEADER\n") - len(b"END_HEADER\n")
    assert 2 * size["three"] == 3 * size["two"] and size["kept"] == size["two"] and size["back"] == size["three"]


@pytest.mark.parametrize("format", ["milc", "nersc", "ildg", "scidac", "hdf5"])
def test_convert_and_back(staghorn, small_gauge, tmp_path, format):
    there, back = tmp_path / "there", tmp_path / "back"
    staghorn("convert", small_gauge, there, "--format", format, "--precision", "fp32", check=True)
    staghorn("convert", there, back, "--format", "hdf5", check=True)
    text = staghorn("inspect", back, check=True).stdout
    assert "hdf5" in text and "fp32" in text and "4x6x8x10" in text


def test_phases_of_milc_are_a_diagonal_sign(solve):
    """MILC's solution is S x(S b), S = (-1)^(t (x + y + z)); a point source at the origin is its own S b."""
    import numpy as np
    from solve_files import read_solution

    cps, milc = (read_solution(solve("--phases", name, name=name).output_path)[0] for name in ("cps", "milc"))
    t, z, y, x = np.ogrid[:10, :8, :6, :4]
    sign = (-1.0) ** (t * (x + y + z))
    assert np.array_equal(milc, sign[..., None] * cps)


@pytest.mark.parametrize("text, words", [
    ("mass = 1\nmass = 2\n", ["'mass'", "more than once"]),
    ("config = other.ini\n", ["unknown option 'config'"]),
    ("help = 1\n", ["unknown option 'help'"]),
    ("mass =\n", ["--mass: expected a number, found ''"]),
    ("mass = 1e999\n", ["--mass: expected a number of size up to"]),
    ("mass = 0.5\ngrid =\n", ["--grid: expected four positive numbers", "found ''"]),
    ("mass = 0.5\ngrid = 65536,65536,65536,65536\n", ["--grid: expected four positive numbers"]),
    ("mass = 0.5\nnoise-vectors = 65\n", ["--noise-vectors: expected a number from 1 to 64, or more with --batch, found 65"]),
    ("mass = 0.5\nforce = maybe\n", ["'force'", "maybe"]),
    ("mass\n", ["invalid line", "mass"]),
    ("reunitarise\n", ["invalid line", "reunitarise"]),
    ("force\nforce\n", ["'force'", "more than once"]),
    ("= 5\n", ["hostile.ini"]),
    ("mass = 0.5\0\n", ["hostile.ini", "zero bytes"]),
    ("\x1b[31mred\x07 = 1\n", ["unknown option '?[31mred?'"]),
    ("x" * 100000 + " = 1\n", ["unknown option 'xxx", "..."]),
])
def test_hostile_configuration_files_get_one_clear_error(staghorn, expect_error, tmp_path, text, words):
    ini = tmp_path / "hostile.ini"
    ini.write_text("gauge = f\n" + text)
    result = staghorn("solve", "--config", ini)
    expect_error(result, 2, *words)
    assert len(result.stderr) < 1000 and result.stderr.strip().isprintable()


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_configuration_files_from_other_editors(staghorn, expect_error, tmp_path, mark):
    ini = tmp_path / "run.ini"
    ini.write_bytes(f"{mark}gauge = absent\r\n[solver]\r\nmass = 0.5\r\n".encode())
    expect_error(staghorn("solve", "--config", ini), 1, "absent", "No such file")


@pytest.mark.parametrize("variable, words", [
    ("STAGHORN_TUNING", "on, off or again"), ("STAGHORN_CG_KERNELS", "auto, one, wide or two"),
    ("STAGHORN_WATCHDOG", "seconds"), ("STAGHORN_RANKS_PER_HOST", "a number"), ("STAGHORN_HOST_MEMORY", "bytes"),
    ("SOURCE_DATE_EPOCH", "seconds since 1970"),
])
@pytest.mark.parametrize("value", ["maybe", "-1", "1 2"])
def test_unreadable_environment_is_an_error_that_names_the_variable(staghorn, small_gauge, expect_error, tmp_path, variable, words, value):
    result = staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--color", 0, "--max-iterations", 1, "--output",
                      tmp_path / "x.h5", env={variable: value})
    expect_error(result, result.returncode, variable, words, value)
    assert result.returncode in (1, 2) and not (tmp_path / "x.h5").exists() and "CERTIFICATE" not in result.stdout


def test_certificate_on_a_gpu_needs_one(solve, expect_error):
    result = solve("--certificate", "device", "--device", "cpu")
    expect_error(result, 1, "--certificate device", "a GPU to compute on")
    assert solve("--certificate", "host", name="host").report["certificate"] == "host"
