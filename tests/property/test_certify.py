"""`staghorn certify`: solutions that another code made, in NumPy and in other conventions, are certified and their convention is named.

The operator of the other code is written down link by link: staggered phases counted from an origin, signs of the boundary, and what it
makes of the links are multiplied into its links.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass, field

import h5py
import numpy as np
import pytest
from program_under_test import ROOT
from solve_files import with_checksums, write_source
from staghorn.improved_reference import asqtad_links, hisq_links
from staghorn.reference import StaggeredOperator, coordinates, extents_of, keep_parity, point_source, random_links, random_vector, shifted

sys.path.insert(0, str(ROOT / "tests" / "io"))

import numpy_formats  # noqa: E402

EXTENTS = (4, 4, 8, 8)
MASS = 0.3
READ = {"as stored": lambda u: u, "daggered": lambda u: np.swapaxes(u.conj(), -1, -2), "transposed": lambda u: np.swapaxes(u, -1, -2),
        "conjugated": np.conj}
# The direction mu has the sign (-1)^(sum of these coordinates).
PHASES = {"cps": ("", "x", "xy", "xyz"), "milc": ("t", "tx", "txy", ""), "tifr": ("yzt", "zt", "t", "")}
ANTIPERIODIC, PERIODIC = "periodic,periodic,periodic,antiperiodic", "periodic,periodic,periodic,periodic"


class OtherCode(StaggeredOperator):
    """D of a code with conventions of its own. `naik`: links of three steps, with their coefficient."""

    def __init__(self, links, phases="cps", origin=(0, 0, 0, 0), boundary=ANTIPERIODIC, read="as stored", naik=None, sign=1):
        self.extents, self.sign = extents_of(links), sign
        self.ours = READ[read](links) * self.signs(phases, origin, boundary, 1)[..., None, None]
        self.naik = None if naik is None else READ[read](naik) * self.signs(phases, origin, boundary, 3)[..., None, None]

    def signs(self, phases, origin, boundary, steps):
        place = dict(zip("xyzt", coordinates(self.extents)))
        counted = {name: (place[name] - o) % extent for name, o, extent in zip("xyzt", origin, self.extents)}
        eta = np.stack([(-1.0) ** sum((counted[name] for name in names), 0 * place["x"]) for names in PHASES[phases]], axis=-1)
        if boundary == ANTIPERIODIC:
            eta[..., 3] *= np.where(counted["t"] + steps >= self.extents[3], -1, 1)
        return eta

    def d(self, v):
        out = np.zeros_like(v, dtype=complex)
        for steps, links in ((1, self.ours), (3, self.naik)):
            for mu in range(4) if links is not None else ():
                u = links[..., mu, :, :]
                out += np.einsum("...ij,...j->...i", u, shifted(v, mu, steps))
                out -= shifted(np.einsum("...ji,...j->...i", u.conj(), v), mu, -steps)
        return self.sign * out


@dataclass
class Made:
    """How a solution was made, what the user says of it, and what must be found. Masses: m of 2m + D."""

    name: str
    code: dict = field(default_factory=dict)
    system: str = "M"  # M, A, even or odd
    factor: float = 1
    action: str = "naive"  # and its parameter
    say: list = field(default_factory=list)
    found: dict = field(default_factory=dict)
    options: str | None = None  # that certify it
    status: int = 3


MADE = [
    Made("ours", say=["--mass", MASS], status=0),
    Made("mass-is-2m", say=["--mass", 2 * MASS], found={"given_mass_is": "2m"}, options=f"--mass {MASS}"),
    Made("mass-is-half-of-m", say=["--mass", MASS / 2], found={"given_mass_is": "m/2"}, options=f"--mass {MASS}"),
    Made("halved", factor=0.5, say=["--mass", MASS], found={"equation": "(m + D/2) x = b", "given_mass_is": "m"}),
    Made("adjoint", {"sign": -1}, found={"operator": "M^+", "equation": "(2m - D) x = b"}),
    Made("adjoint-halved-milc", {"sign": -1, "phases": "milc"}, factor=0.5, found={"operator": "M^+", "phases": "milc"}),
    Made("milc", {"phases": "milc"}, say=["--mass", MASS], found={"phases": "milc"}, options=f"--mass {MASS} --phases milc"),
    Made("milc-from-an-origin", {"phases": "milc", "origin": (1, 0, 0, 3)}, found={"phases": "milc", "origin": [1, 0, 0, 3]}),
    Made("cps-from-an-origin", {"origin": (1, 1, 0, 2)}, found={"phases": "cps", "origin": [1, 1, 0, 2]}),
    Made("tifr", {"phases": "tifr"}, found={"phases": "tifr"}),
    Made("periodic-in-t", {"boundary": PERIODIC}, found={"boundary": PERIODIC}, options=f"--mass {MASS} --boundary {PERIODIC}"),
    Made("daggered-links", {"read": "daggered"}, found={"links": "daggered"}),
    Made("transposed-links", {"read": "transposed"}, found={"links": "transposed"}),
    Made("conjugated-links-milc", {"read": "conjugated", "phases": "milc"}, found={"links": "conjugated", "phases": "milc"}),
    Made("normal-equation", system="A", say=["--mass", MASS], found={"operator": "A", "sites": "all"}, status=0),
    Made("even-halved-milc", {"phases": "milc"}, "even", 0.25, say=["--mass", MASS],
         found={"equation": "(m^2 - D^2/4) x = b on even sites", "phases": "milc"}),
    Made("odd", {"boundary": PERIODIC}, "odd", say=["--mass", MASS, "--system", "odd"], found={"sites": "odd", "boundary": PERIODIC},
         options=f"--mass {MASS} --system odd --boundary {PERIODIC}"),
    Made("sign-and-factor", {"phases": "tifr"}, factor=-3, found={"factor": -3.0, "phases": "tifr"}),
    Made("asqtad", {"phases": "milc"}, action="asqtad", found={"action": "asqtad", "u0": 1.0, "phases": "milc"}),
    Made("hisq-with-an-epsilon", {"phases": "milc"}, action="hisq -0.12", found={"action": "hisq", "naik_epsilon": -0.12, "phases": "milc"},
         options=f"--mass {MASS} --phases milc --action hisq --naik-epsilon -0.12"),
    Made("hisq-halved", factor=0.5, action="hisq", found={"action": "hisq", "naik_epsilon": 0.0, "equation": "(m + D/2) x = b"}),
]


@pytest.fixture(scope="module")
def lattice(tmp_path_factory):
    """Links and a source in files, and fat and Naik links of each action, made once."""
    folder = tmp_path_factory.mktemp("certify")
    thin, b = random_links(EXTENTS, 3), random_vector(EXTENTS, 5)
    with h5py.File(folder / "u.h5", "w") as file:
        file["links"] = thin
        with_checksums(file["links"])
    write_source(folder / "b.h5", b)
    made = {"naive": (thin, None)}

    def links(action):
        if action not in made:
            kind, *parameter = action.split()
            made[action] = {"asqtad": asqtad_links, "hisq": hisq_links}[kind](thin, *map(float, parameter))
        return made[action]

    return folder, links, b


@pytest.fixture(scope="module")
def solved(lattice):
    """solved(made) -> x of the other code."""
    _, links, b = lattice
    done = {}

    def solve(made):
        if made.name not in done:
            near, naik = links(made.action)
            code = OtherCode(near, naik=naik, **made.code)
            if made.system == "M":
                x, _ = code.solve(MASS, b, 1e-13)
            else:
                parts = {"A": (0, 1), "even": (0,), "odd": (1,)}[made.system]
                x = sum(code.solve_parity(MASS, keep_parity(b, which), 1e-13)[0] for which in parts)
            done[made.name] = x / made.factor
        return done[made.name]

    return solve


@pytest.fixture
def certify(staghorn, lattice, tmp_path):
    """certify(x, *options) -> (exit status, report). x: [T, Z, Y, X, 3], written as /solution."""
    folder = lattice[0]

    def run(x, *options, source=folder / "b.h5", **how):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file["solution"] = x[None]
            with_checksums(file["solution"])
        result = staghorn("certify", "--gauge", folder / "u.h5", "--solution", tmp_path / "x.h5", "--source", f"file:{source}", *options,
                          "--report", "-", **how)
        assert result.stdout.startswith("{"), result.stderr
        return result.returncode, json.loads(result.stdout)

    return run


def ids(made):
    return made.name


@pytest.mark.parametrize("made", MADE, ids=ids)
def test_convention_of_another_code_is_named(made, solved, certify):
    status, report = certify(solved(made), *made.say)
    expected = {"phases": "cps", "origin": [0, 0, 0, 0], "boundary": ANTIPERIODIC, "links": "as stored", "operator": "M" if made.system == "M" else "A",
                "factor": made.factor, "action": made.action, **made.found}
    found = report["convention"]
    assert found and {name: found[name] for name in expected} == expected
    assert found["mass"] == pytest.approx(MASS, rel=1e-12)
    assert max(report["residuals"]) <= 1e-10
    assert (status, report["outcome"]) == (made.status, "other_convention" if made.status else "certified")
    if made.options:
        assert found["options"] == made.options


@pytest.mark.parametrize("made", MADE, ids=ids)
def test_no_convention_is_named_where_one_site_is_wrong_by_1e_6(made, solved, certify):
    x = solved(made).copy()
    place = np.random.default_rng(MADE.index(made)).choice(np.argwhere(abs(x[..., 0]) > 0))
    x[tuple(place)] *= 1 + 1e-6
    status, report = certify(x, *made.say)
    assert (status, report["outcome"], report["convention"]) == (3, "not_certified", None)
    assert 1e-9 < max(report["residuals"]) < 1e-6
    # The worst site is the wrong one, or a neighbour.
    apart = [min((a - b) % n, (b - a) % n) for a, b, n in zip(report["worst_site"]["site"], place[::-1], EXTENTS)]
    assert sum(apart) <= (3 if made.action != "naive" else 2 if made.system != "M" else 1)


@pytest.mark.parametrize("made", [made for made in MADE if made.options], ids=ids)
def test_options_that_are_proposed_certify(made, solved, certify):
    status, report = certify(solved(made), *made.options.split(), "--no-search")
    assert (status, report["outcome"], report["tried"]) == (0, "certified", 0)


def test_any_convention_certifies_what_is_named(solved, certify):
    status, report = certify(solved(MADE[3]), "--any-convention")
    assert (status, report["outcome"], report["convention"]["factor"]) == (0, "certified", 0.5)


def test_residual_is_that_of_the_reference(lattice, certify):
    _, links, b = lattice
    x = random_vector(EXTENTS, 8)
    status, report = certify(x, "--mass", 0.7)
    expected = np.linalg.norm(b - OtherCode(links("naive")[0]).m(0.7, x)) / np.linalg.norm(b)
    assert status == 3 and report["convention"] is None and report["tried"] > 1000
    assert report["asked"]["residual"] == pytest.approx(expected, rel=1e-13)


def test_a_half_that_is_wrong_is_not_certified_by_the_other(lattice, certify):
    """M^+ M x = b on even sites; the odd sites hold something else. The even half is named, and certified if it is asked for."""
    _, links, b = lattice
    x = OtherCode(links("naive")[0]).solve_parity(MASS, keep_parity(b, 0), 1e-13)[0] + keep_parity(b, 1)
    status, report = certify(x, "--any-convention")
    assert (status, report["outcome"], report["convention"]["sites"]) == (3, "other_convention", "even")
    assert certify(x, "--system", "even", "--mass", MASS)[0] == 0


@pytest.mark.mpi
def test_reports_have_the_same_bits_on_four_ranks(solved, certify):
    def numbers(made, *options, **how):
        report = certify(solved(made), *options, **how)[1]
        return {name: report[name] for name in ("outcome", "explanation", "asked", "convention", "residuals", "worst_site", "tried", "attainable")}

    for name in ("milc-from-an-origin", "hisq-halved", "sign-and-factor"):
        made = next(each for each in MADE if each.name == name)
        assert numbers(made) == numbers(made, "--grid", "1,1,2,2", ranks=4) == numbers(made, threads=3)


def test_a_solution_in_fp32_is_certified_as_far_as_its_numbers_reach(lattice, solved, staghorn, tmp_path):
    folder, _, b = lattice
    x = solved(MADE[6])
    for name, numbers in (("x", x), ("b", b)):
        np.save(tmp_path / f"{name}.npy", numbers[None].astype(np.complex64))
    common = ["certify", "--gauge", folder / "u.h5", "--solution", tmp_path / "x.npy", "--source", f"file:{tmp_path / 'b.npy'}", "--no-verify",
              "--report", "-", "--mass", MASS, "--phases", "milc"]
    report = json.loads(staghorn(*common, check=True).stdout)
    assert (report["outcome"], report["precision"], report["tolerance"], report["verified"]) == ("certified", "fp32", 1e-6, False)
    assert 1e-8 < report["residuals"][0] < report["attainable"] < 2e-7
    result = staghorn(*common, "--tolerance", 1e-9)
    report = json.loads(result.stdout)
    assert (result.returncode, report["outcome"], report["convention"]) == (3, "rounded", None)
    assert "fp32" in report["explanation"]


def test_faults_are_errors(lattice, staghorn, expect_error, tmp_path):
    folder, _, b = lattice

    def run(solution, source="b.h5", *options):
        return staghorn("certify", "--gauge", folder / "u.h5", "--solution", solution, "--source", f"file:{folder / source}", "--no-verify", *options)

    def saved(name, numbers):
        np.save(tmp_path / f"{name}.npy", numbers)
        return tmp_path / f"{name}.npy"

    nan = b.copy()
    nan[1, 2, 3, 0, 1] = np.nan
    expect_error(run(tmp_path / "none.h5"), 1, "none.h5")
    expect_error(run(folder / "u.h5"), 1, "solution")
    expect_error(run(saved("short", b[None, :, :, :, :2])), 1, "4x4x8x8")
    expect_error(run(saved("two", np.stack([b, b]))), 1, "--source: expected 2 vectors, one for each solution (--color chooses one of three), found 1")
    expect_error(run(saved("nan", nan[None])), 1, "NaN")
    expect_error(run(saved("zero", 0 * b[None])), 1, "solution", "zero")
    expect_error(run(saved("b", b[None]), saved("zero", 0 * b[None])), 1, "source", "zero")
    expect_error(run(saved("b", b[None]), saved("odd", keep_parity(b, 1)[None]), "--system", "even"), 1, "even sites")
    expect_error(run(saved("b", b[None]), "b.h5", "--mass", -1), 2, "--mass")
    expect_error(run(saved("b", b[None]), "b.h5", "--tolerance", 2), 2, "--tolerance")
    expect_error(staghorn("certify", "--gauge", folder / "u.h5"), 2, "solution")


def without_numbers(text: str) -> str:
    """Residuals and counts of conventions depend on links; lines do not."""
    return re.sub(r"\d+(\.\d+)?e-\d\d|(?<=is )[\d.]+(?=, the)|\d+(?= conventions)", "#", text)


def test_examples_of_the_page_print_what_is_shown(staghorn, tmp_path, monkeypatch):
    """docs/certify.md, on files as the other codes have them."""
    monkeypatch.chdir(tmp_path)
    extents, mass = (4, 4, 4, 8), 0.1
    links = random_links(extents, 11)
    with h5py.File("l8888.h5", "w") as file:
        file["links"] = links
        with_checksums(file["links"])
    sources = [point_source(extents, color=c) for c in range(3)]
    cps, milc = OtherCode(links), OtherCode(links, "milc")
    (tmp_path / "prop.scidac").write_bytes(numpy_formats.ksprop_file(np.stack([milc.solve(mass, b)[0] for b in sources])))
    x, _ = cps.solve(mass, sources[0])
    x.tofile("cps.bin")
    np.save("quda.npy", OtherCode(links, "milc", sign=-1).solve(mass, sources[0])[0])
    np.save("grid.npy", 2 * x)
    fat, naik = hisq_links(links)
    np.save("simulateqcd.npy", 4 * OtherCode(fat, naik=naik).solve_parity(mass, sources[0])[0])

    page = (ROOT / "docs/certify.md").read_text()
    for code in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(code, {})  # noqa: S102
    examples = re.findall(r"^    staghorn (certify --gauge l8888.*)\n\n((?:    .*\n)+)", page, re.MULTILINE)
    assert len(examples) == 5
    for command, printed in examples:
        result = staghorn(*shlex.split(command), cwd=tmp_path)
        shown = re.sub(r"^    ", "", printed, flags=re.MULTILINE)
        assert without_numbers(result.stdout) == without_numbers(shown), result.stdout
        assert result.returncode == (0 if shown.startswith("CERTIFIED") else 3)
