"""Deflated solves: a source in the space of the eigenvectors needs no iteration, any other one fewer, and no bit of it depends
on the process grid."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
from eigenpair_files import eigenpairs, write_eigenpairs
from solve_files import relative_difference, solution_bytes, write_source
from staghorn import improved_reference, reference

staghorn_python = pytest.importorskip("staghorn.session", reason="the compiled Python module is not built")

EXTENTS = (4, 6, 4, 4)
PAIRS = 20
MASS = 0.01
STORAGES = ["fp64", "fp32", "fp16"]
IN_FP64 = {"sloppy": "none"}


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=91)


@pytest.fixture(scope="module")
def operator(links):
    return reference.StaggeredOperator(links)


@pytest.fixture(scope="module")
def pairs(operator):
    values, vectors = eigenpairs(operator.d, EXTENTS)
    return values[:PAIRS], vectors[:PAIRS]


@pytest.fixture(scope="module")
def files(tmp_path_factory, links, pairs):
    folder = tmp_path_factory.mktemp("eigenpairs")
    return {storage: write_eigenpairs(folder / f"{storage}.h5", *pairs, links, storage, residual=1e-3)
            for storage in STORAGES}


@pytest.fixture(scope="module")
def sessions(links, files):
    return {storage: staghorn_python.Session(links, order="lex", eigenvectors=path, **IN_FP64) for storage, path in files.items()}


def plain_iterations(sessions, b, **options) -> list[int]:
    _, report = sessions["fp64"].solve(MASS, b, deflate=False, **options)
    assert report["deflation"] is None
    return [rhs["iterations"] for rhs in report["rhs"]]


@pytest.mark.parametrize("system", ["even", "odd"])
def test_source_in_the_space_of_the_vectors_needs_no_iteration(sessions, operator, pairs, system):
    values, vectors = pairs
    c = np.random.default_rng(1).normal(size=(PAIRS, 2)) @ [1, 1j]
    if system == "odd":  # D_oe v / sqrt(lambda)
        vectors = np.array([operator.d(v) / np.sqrt(value) for value, v in zip(values, vectors)])
    tolerance = 1e-7 if system == "odd" else 1e-10  # there rounding is divided by the smallest eigenvalue, 3e-5
    x, report = sessions["fp64"].solve(MASS, np.tensordot(c, vectors, 1), system=system, tolerance=tolerance)
    assert report["outcome"] == "certified" and report["rhs"][0]["iterations"] == 0
    assert report["deflation"]["pairs"] == PAIRS and report["deflation"]["projections"] == 1
    exact = np.tensordot(c / (4 * MASS**2 + values), vectors, 1)
    assert relative_difference(x, exact) < 10 * tolerance


@pytest.mark.parametrize("options", [IN_FP64, {"sloppy": "fp32"}, {"sloppy": "fp16"}, {"precision": "fp32"}], ids=str)
@pytest.mark.parametrize("storage", STORAGES)
def test_iterations_are_those_of_the_rest_of_the_spectrum(links, files, operator, sessions, pairs, storage, options):
    b = reference.keep_parity(reference.random_vector(EXTENTS, 92), 0)
    session = staghorn_python.Session(links, order="lex", eigenvectors=files[storage], **options)
    tolerance = 1e-9
    x, report = session.solve(MASS, b, system="even", tolerance=tolerance)
    assert report["outcome"] == "certified" and report["deflation"]["precision"] == storage
    assert np.linalg.norm(b - operator.a(MASS, x)) <= 1.001 * tolerance * np.linalg.norm(b)
    # CG on the rest: |r| falls by 2 q^n, q from the condition number
    condition = 64 / (pairs[0][-1] + 4 * MASS**2)
    bound = np.log(tolerance / 2) / np.log((np.sqrt(condition) - 1) / (np.sqrt(condition) + 1))
    undeflated = plain_iterations(sessions, b, system="even", tolerance=tolerance)[0]
    assert report["rhs"][0]["iterations"] < min(bound, 0.8 * undeflated)
    once = storage == "fp64" and options == IN_FP64  # what is more precise than the iterations is used in each pass
    assert (report["deflation"]["projections"] == 1) == once


@pytest.mark.parametrize("storage", STORAGES)
def test_full_and_odd_systems_need_the_vectors_of_even_sites_alone(sessions, operator, storage):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (93, 94)])
    x, report = sessions[storage].solve(MASS, b)
    assert report["outcome"] == "certified" and report["deflation"]["projections"] >= 1
    for i in range(2):
        assert np.linalg.norm(b[i] - operator.m(MASS, x[i])) <= 1.001e-10 * np.linalg.norm(b[i])
    _, odd = sessions[storage].solve(MASS, b, system="odd")
    assert odd["outcome"] == "certified" and odd["deflation"]["projections"] >= 1
    for report, options in ((report, {}), (odd, {"system": "odd"})):
        for rhs, plain in zip(report["rhs"], plain_iterations(sessions, b, **options)):
            assert rhs["iterations"] < 0.8 * plain, (storage, options)


@pytest.mark.parametrize("options", [IN_FP64, {"sloppy": "fp32"}], ids=str)
def test_rounding_to_16_bits_is_damped_on_odd_sites(links, files, sessions, options):
    """Odd sites take few more iterations than from vectors in fp64, as long as the polynomial is there; each of many masses has
    the bits that it has alone; and no bit depends on earlier solves of the session."""
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (115, 116)])
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp16"], **options)
    first, report = session.solve(0.001, b, system="odd")
    precise = staghorn_python.Session(links, order="lex", eigenvectors=files["fp64"], **options)
    for rhs, wanted in zip(report["rhs"], precise.solve(0.001, b, system="odd")[1]["rhs"]):
        assert rhs["outcome"] == "certified" and rhs["iterations"] < 1.4 * wanted["iterations"]
    x, masses = session.solve(None, b, masses=[0.01, 0.001], system="odd")
    assert masses["outcome"] == "certified" and masses["multi_shift"]["columns"] == 0
    assert [rhs["iterations"] for rhs in masses["rhs"][2:]] == [rhs["iterations"] for rhs in report["rhs"]]
    for name in ("eigenvectors", "vectors", "sources_solutions"):
        assert masses["memory_bytes"][name] == masses["predicted_memory_bytes"][name] > 0
    assert "shifted_vectors" not in {**masses["memory_bytes"], **masses["predicted_memory_bytes"]}
    assert np.array_equal(x[0], session.solve(0.01, b, system="odd")[0])
    assert np.array_equal(x[1], first) and np.array_equal(session.solve(0.001, b, system="odd")[0], first)


@pytest.mark.parametrize("options, mass, tolerance, most", [
    (IN_FP64, 0.05, 1e-12, 5),  # 1e-12 is five falls by 3e-3
    ({"sloppy": "fp32"}, 0.001, 1e-10, 7),
    ({"sloppy": "fp16"}, 0.001, 1e-10, 7),
], ids=["fp64", "mixed-fp32", "mixed-fp16"])
def test_damped_projections_follow_falls_of_the_residual(links, files, options, mass, tolerance, most):
    """There is one for each fall, for all right-hand sides together and however small the residual is."""
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in range(115, 123)])
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp16"], **options)
    _, report = session.solve(mass, b, system="odd", tolerance=tolerance)
    assert report["outcome"] == "certified" and 3 < report["deflation"]["projections"] <= most


@pytest.mark.parametrize("storage", STORAGES)
def test_right_hand_sides_have_the_bits_that_they_have_alone(sessions, storage):
    b = np.array([reference.random_vector(EXTENTS, seed) * 10.0**i for i, seed in enumerate((95, 96, 97))])
    together, _ = sessions[storage].solve(MASS, b, system="even")
    for i in (2, 0):
        alone, _ = sessions[storage].solve(MASS, b[i], system="even")
        assert np.array_equal(together[i], alone)


def test_block_cg_starts_without_the_vectors(links, files, sessions):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (98, 99, 100)])
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp64"], solver="block")
    _, report = session.solve(MASS, b, system="even")
    _, plain = session.solve(MASS, b, system="even", deflate=False)
    assert report["outcome"] == "certified" and report["loop"] == "block"
    assert report["rhs"][0]["iterations"] < plain["rhs"][0]["iterations"]


def test_block_cg_in_mixed_precision_reports_its_updates(links, files):
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (98, 99, 100)])
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp64"], solver="block", sloppy="fp32")
    _, report = session.solve(MASS, b, system="even")
    updates = report["rhs"][0]["updates"]
    assert report["outcome"] == "certified" and report["loop"] == "block"
    assert len(updates) >= 10 and updates == sorted(set(updates)) and updates[-1] <= report["rhs"][0]["iterations"]


@pytest.mark.mpi
@pytest.mark.parametrize("options", [["--system", "even"], ["--sloppy", "fp16"], ["--system", "odd", "--solver", "block"]],
                         ids=" ".join)
def test_solution_has_the_bits_of_one_rank(staghorn, tmp_path, links, files, options):
    gauge = tmp_path / "gauge.h5"
    write_links(gauge, links)
    source = write_source(tmp_path / "b.h5", np.array([reference.random_vector(EXTENTS, seed) for seed in (101, 102)]))
    found = set()
    for name, ranks, more in (("one", 1, []), ("cut", 2, ["--grid", "1,1,2,1"]), ("small", 4, ["--grid", "2,1,1,2"])):
        staghorn("solve", "--gauge", gauge, "--eigenvectors", files["fp16"], "--mass", MASS, "--source", f"file:{source}",
                 *options, *more, "--output", tmp_path / f"{name}.h5", "--report", tmp_path / f"{name}.json",
                 ranks=ranks, threads=2 if ranks == 1 else 1, check=True)
        report = json.loads((tmp_path / f"{name}.json").read_text())
        assert report["ranks"] == ranks and report["deflation"]["projections"] > 1
        found.add(solution_bytes(tmp_path / f"{name}.h5"))
    assert len(found) == 1


@pytest.mark.mpi
@pytest.mark.parametrize("source, keys, words", [
    ("gaussian:3", ["condensate"], "of low modes exact"),
    ("point:1,2,3,1", ["pion_correlator", "pion_low_part"], "low modes averaged over all translates in 1 correlator\n"),
    ("wall:1; corner-wall:2", ["sources"], "low modes averaged over all translates in 2 correlators\n"),
])
def test_exact_low_modes_have_the_bits_of_one_rank(staghorn, tmp_path, links, files, source, keys, words):
    gauge = tmp_path / "gauge.h5"
    write_links(gauge, links)
    found = []
    for ranks, more in ((1, []), (3, ["--grid", "1,3,1,1"]), (4, ["--grid", "2,1,1,2"])):
        result = staghorn("solve", "--gauge", gauge, "--eigenvectors", files["fp32"], "--mass", 0.05, "--sources", source,
                          "--noise-vectors", 2, "--exact-low-modes", *more, "--report", tmp_path / f"{ranks}.json", ranks=ranks,
                          threads=2 if ranks == 1 else 1, check=True)
        report = json.loads((tmp_path / f"{ranks}.json").read_text())
        found.append([report[key] for key in keys])
        assert words in result.stdout
    assert found[0] == found[1] == found[2] and all(found[0])


def write_links(path, links):
    import h5py
    from solve_files import with_checksums

    with h5py.File(path, "w") as file:
        file["links"] = links
        with_checksums(file["links"])
        file["links"].attrs["plaquette"] = float(reference.plaquettes(links)["all"])


def refused(call) -> str:
    with pytest.raises(staghorn_python.Error) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize("options, words", [
    ({"boundary": (0, 0, 0, 0)}, ["boundary", "periodic,periodic,periodic,periodic", "antiperiodic"]),
    ({"action": "hisq"}, ["action", "hisq", "naive"]),
], ids=str)
def test_pairs_of_another_operator_are_refused_by_name(links, files, options, words):
    message = refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=files["fp64"], **options))
    assert "fp64.h5" in message and all(word in message for word in words)


@pytest.mark.parametrize("name, value", [("naik_epsilon", -0.1), ("unitarize", "su3")])
def test_pairs_of_other_hisq_quarks_are_refused_by_name(tmp_path, links, pairs, name, value):
    path = write_eigenpairs(tmp_path / "hisq.h5", *pairs, links, action="hisq", naik_epsilon="0", unitarize="u3")
    message = refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=path, action="hisq", **{name: value}))
    assert f"hisq.h5: {name} that" in message and f"expected {value}, found" in message


def test_pairs_of_other_links_are_refused(links, files):
    message = refused(lambda: staghorn_python.Session(reference.random_links(EXTENTS, seed=5), order="lex", eigenvectors=files["fp64"]))
    assert "links_hash" in message and "with links of 12 or 8 reals they are projected" in message
    message = refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=files["fp64"], links=12))
    assert "links_hash" in message and "here of links projected onto SU(3)" in message
    message = refused(lambda: staghorn_python.Session(reference.random_links((4, 4, 4, 4), seed=5), order="lex", eigenvectors=files["fp64"]))
    assert "4x4x4x4" in message and "4x6x4x4" in message


def test_numbers_that_are_no_eigenpairs_are_refused_by_the_certificate(tmp_path, links, pairs):
    values, vectors = pairs
    wrong = values.copy()
    wrong[7] *= 1 + 1e-6
    path = write_eigenpairs(tmp_path / "value.h5", wrong, vectors, links)
    assert "of eigenpair 7" in refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=path))
    twice = vectors.copy()
    twice[3] = vectors[4]
    path = write_eigenpairs(tmp_path / "twice.h5", np.full(PAIRS, values[4]), twice, links, residual=1)
    assert "V^+ V - 1" in refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=path))
    path = write_eigenpairs(tmp_path / "order.h5", values[::-1].copy(), vectors[::-1], links)
    assert "eigenvalue 1" in refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=path))


def test_every_flipped_byte_of_the_numbers_is_refused(tmp_path, links, pairs, files):
    import h5py

    with h5py.File(files["fp16"]) as file:
        places = [(name, file[name].id.get_offset(), file[name].id.get_storage_size())
                  for name in ("eigenvectors", "eigenvalues", "residuals")]
    whole = files["fp16"].read_bytes()
    for name, offset, size in places:
        for at in (0, size // 2 + 1, size - 1):
            damaged = bytearray(whole)
            damaged[offset + at] ^= 16
            (tmp_path / "damaged.h5").write_bytes(damaged)
            message = refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=tmp_path / "damaged.h5"))
            assert "damaged.h5" in message and name in message


def test_a_file_that_is_cut_short_is_called_truncated(tmp_path, links, files):
    whole = files["fp16"].read_bytes()
    path = tmp_path / "cut.h5"
    path.write_bytes(whole[:-1000])
    message = refused(lambda: staghorn_python.Session(links, order="lex", eigenvectors=path))
    assert f"cut.h5 is truncated: expected {len(whole)} bytes, found {len(whole) - 1000}" in message


@pytest.mark.parametrize("sloppy", ["fp32", "fp16"])
def test_every_reliable_update_takes_the_vectors_out(links, files, sessions, sloppy):
    """Of all right-hand sides. At a small mass what rounding leaves would else cost many iterations of those that were left out."""
    mass = 1e-3
    b = np.array([reference.keep_parity(reference.random_vector(EXTENTS, seed), 0) for seed in range(121, 127)])
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp16"], sloppy=sloppy)
    _, report = session.solve(mass, b, system="even")
    _, precise = sessions["fp64"].solve(mass, b, system="even")
    assert report["outcome"] == "certified"
    assert report["deflation"]["projections"] == max(len(rhs["updates"]) for rhs in report["rhs"]) > 2
    for rhs, exact in zip(report["rhs"], precise["rhs"], strict=True):
        assert rhs["iterations"] <= 1.1 * exact["iterations"]


@pytest.mark.parametrize("system", ["even", "odd", "full"])
def test_many_masses_share_what_the_vectors_say(sessions, operator, system):
    masses = [0.02, 0.01, 0.1]
    b = np.array([reference.random_vector(EXTENTS, seed) for seed in (111, 112)])
    x, report = sessions["fp64"].solve(None, b, masses=masses, system=system, tolerance=1e-9)
    _, plain = sessions["fp64"].solve(None, b, masses=masses, system=system, tolerance=1e-9, deflate=False)
    assert report["outcome"] == "certified" and report["deflation"]["projections"] >= 1
    assert report["multi_shift"]["iterations"] < 0.5 * plain["multi_shift"]["iterations"]
    for k, mass in enumerate(masses):
        for i in range(2):
            if system == "full":
                r = b[i] - operator.m(mass, x[k, i])
            else:
                r = reference.keep_parity(b[i] - operator.a(mass, x[k, i]), 0 if system == "even" else 1)
            norm = np.linalg.norm(b[i] if system == "full" else reference.keep_parity(b[i], 0 if system == "even" else 1))
            assert np.linalg.norm(r) <= 1.001e-9 * norm
    for name in ("eigenvectors", "shifted_vectors", "vectors"):
        assert report["memory_bytes"][name] == report["predicted_memory_bytes"][name] > 0


def test_rounded_vectors_leave_most_of_each_mass_to_polishing(sessions):
    masses = [0.02, 0.01, 0.1]
    b = reference.random_vector(EXTENTS, 114)
    _, report = sessions["fp16"].solve(None, b, masses=masses, system="even")
    assert report["outcome"] == "certified" and report["multi_shift"]["iterations"] < 150
    for mass, rhs in zip(masses, report["rhs"]):
        _, single = sessions["fp16"].solve(mass, b, system="even")
        assert rhs["shift_iterations"] < rhs["iterations"] < 1.5 * single["rhs"][0]["iterations"]


@pytest.mark.parametrize("options", [IN_FP64, {"sloppy": "fp32"}], ids=str)
def test_memory_is_as_predicted(links, files, options):
    session = staghorn_python.Session(links, order="lex", eigenvectors=files["fp16"], **options)
    _, report = session.solve(MASS, reference.random_vector(EXTENTS, 113))
    there, predicted = report["memory_bytes"], report["predicted_memory_bytes"]
    assert there["eigenvectors"] == predicted["eigenvectors"]
    # an upper bound where extents do not split among lanes
    assert there["vectors"] <= predicted["vectors"] <= 1.2 * there["vectors"]
    assert there["deflation"] == predicted["deflation"]
    assert (there["eigenvectors"], there["deflation"]) == (PAIRS * 16 * 192, 2 * 16 * 192)


def test_exact_low_modes_take_their_noise_out_of_the_condensate(sessions, operator, pairs):
    """What the vectors see of each noise vector goes, by NumPy, and their part of the trace comes."""
    values, vectors = pairs
    masses, sites = [0.02, 0.1], int(np.prod(EXTENTS))
    options = {"masses": masses, "noise_vectors": 3, "tolerance": 1e-12}
    x, plain = sessions["fp64"].solve(None, "gaussian:7", **options)
    noise = [operator.m(masses[0], of_first) for of_first in x[0]]
    partners = [operator.d(v) / np.sqrt(value) for value, v in zip(values, vectors)]
    for storage, rounding in (("fp64", 1e-9), ("fp32", 1e-5)):
        _, found = sessions[storage].solve(None, "gaussian:7", exact_low_modes=True, **options)
        assert found["deflation"]["pairs"] == PAIRS
        for mass, before, after in zip(masses, plain["condensates"], found["condensates"]):
            weight = 2 * mass / (values + 4 * mass**2) / sites
            assert before["low_part"] is None and after["low_part"] == pytest.approx(2 * weight.sum(), rel=rounding)
            seen = [sum(weight * [abs(np.vdot(v, eta))**2 + abs(np.vdot(w, eta))**2 for v, w in zip(vectors, partners)])
                    for eta in noise]
            expected = np.array(before["values"]) - seen + 2 * weight.sum()
            assert after["values"] == pytest.approx(expected, rel=rounding)
            assert after["value"] == pytest.approx(np.mean(expected), rel=rounding)
            assert not np.allclose(expected, before["values"], rtol=1e-3)


class SmallLattice:
    """Naive or HISQ quarks on so few sites that all eigenpairs and the whole propagator are known."""

    def __init__(self, action: str, folder):
        self.extents = (4, 2, 2, 4) if action == "naive" else (4, 4, 4, 4)
        self.links, self.action, self.folder = reference.random_links(self.extents, seed=92), action, folder
        self.operator = (reference.StaggeredOperator(self.links) if action == "naive" else
                         improved_reference.ImprovedOperator(*improved_reference.hisq_links(self.links)))
        self.values, self.vectors = eigenpairs(self.operator.d, self.extents)

    @functools.cache
    def session(self, n: int, storage="fp64"):
        identity = {} if self.action == "naive" else {"action": "hisq", "naik_epsilon": "0", "unitarize": "u3"}
        path = write_eigenpairs(self.folder / f"{self.action}{n}{storage}.h5", self.values[:n], self.vectors[:n], self.links,
                                storage, residual=1e-2 if storage == "fp16" else 1e-5 if storage == "fp32" else 1e-9, **identity)
        return staghorn_python.Session(self.links, order="lex", eigenvectors=path, action=self.action)

    @functools.cache
    def propagator(self, mass: float) -> np.ndarray:
        """G = M^-1, [site, colour, site, colour]."""
        n = 3 * int(np.prod(self.extents))
        m = np.stack([self.operator.m(mass, unit).ravel() for unit in np.eye(n).reshape(n, *self.extents[::-1], 3)], axis=1)
        return np.linalg.inv(m).reshape(n // 3, 3, n // 3, 3)

    def mean_correlator(self, mass: float, kind: str, phases="cps") -> np.ndarray:
        """sum_x |G s|^2, colours summed, over t(x) - t(s): the mean over all points s, or over the walls s of every time slice."""
        propagator, time = self.propagator(mass), self.extents[3]
        t, z, y, x = (axis.ravel() for axis in np.indices(self.extents[::-1]))
        signs = (-1)**(t * (x + y + z)) if phases == "milc" else np.ones(t.size)
        stands = {"wall": t >= 0, "even-wall": (x + y + z + t) % 2 == 0, "corner-wall": (x % 2 == 0) & (y % 2 == 0) & (z % 2 == 0)}
        if kind == "point":
            correlators = (abs(propagator)**2).reshape(time, -1, t.size, 3).sum(axis=(1, 3)).T
        else:
            walls = np.array([signs * stands[kind] * (t == t0) for t0 in range(time)])
            correlators = (abs(np.einsum("xays,wy->wxas", propagator, walls))**2).reshape(time, time, -1).sum(axis=2)
        from_t = t if kind == "point" else range(time)
        return np.mean([np.roll(c, -t0) for c, t0 in zip(correlators, from_t)], axis=0)


@pytest.fixture(scope="module", params=["naive", "hisq"])
def small(request, tmp_path_factory):
    return SmallLattice(request.param, tmp_path_factory.mktemp("small"))


def test_condensate_has_no_noise_where_all_modes_are_known(small):
    """Then each value is the trace; with fewer modes the error is smaller than without. In MILC's phases, and in turns too."""
    mass, values = 0.02, small.values
    exact = (4 * mass / (values + 4 * mass**2)).sum() / np.prod(small.extents)
    errors = {}
    for n in (len(values), 8):
        session = small.session(n)
        _, report = session.solve(mass, "z2:1", noise_vectors=32, exact_low_modes=True, tolerance=1e-11, phases="milc")
        found = report["condensate"]
        errors[n] = found["error"]
        assert found["value"] == pytest.approx(exact, abs=4 * found["error"] + 1e-9 * exact)
        # sources that take turns have the same
        _, turns = session.solve(mass, sources="point:0,0,0,0; z2:1", noise_vectors=32, batch=4, exact_low_modes=True,
                                 tolerance=1e-11, phases="milc")
        assert turns["sources"][1]["condensate"]["low_part"] == found["low_part"]
        assert turns["sources"][1]["condensate"]["values"] == pytest.approx(found["values"], rel=1e-8)
    _, plain = session.solve(mass, "z2:1", noise_vectors=32)
    assert errors[len(values)] < 1e-10 * exact and errors[8] < 0.5 * plain["condensate"]["error"]
    assert plain["condensate"]["value"] == pytest.approx(exact, abs=4 * plain["condensate"]["error"])


@pytest.mark.parametrize("source", ["point:1,0,1,3", "point:0,1,1,2", "wall:3", "even-wall:1", "corner-wall:2"])
def test_pion_correlator_is_that_of_all_translates_where_all_modes_are_known(small, source):
    """Against the dense inverse, from odd and even sites and both, in each mass, and in turns with other sources."""
    masses, from_t = [0.3, 0.02], int(source[-1])
    session = small.session(len(small.values))
    options = {"masses": masses, "tolerance": 1e-12, "phases": "milc"}
    _, plain = session.solve(None, source, **options)
    _, found = session.solve(None, source, exact_low_modes=True, **options)
    _, turns = session.solve(None, sources=f"z2:1; wall:0; {source}", batch=4, exact_low_modes=True, **options)
    assert plain["pion_low_parts"] == [] and turns["sources"][0]["pion_low_part"] == []
    for k, mass in enumerate(masses):
        expected = np.roll(small.mean_correlator(mass, source.split(":")[0], "milc"), from_t)
        assert found["pion_low_parts"][k] == pytest.approx(expected, rel=1e-11)
        assert found["pion_correlators"][k] == pytest.approx(expected, rel=1e-9)
        assert not np.allclose(plain["pion_correlators"][k], expected, rtol=1e-3)
        in_turn = turns["sources"][3 * k + 2]
        assert in_turn["pion_low_part"] == found["pion_low_parts"][k]
        assert in_turn["pion_correlator"] == pytest.approx(found["pion_correlators"][k], rel=1e-9)
        assert turns["sources"][3 * k + 1]["pion_low_part"] == pytest.approx(small.mean_correlator(mass, "wall", "milc"), rel=1e-11)


@pytest.mark.parametrize("small", ["naive"], indirect=True)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", ["point", "wall", "even-wall", "corner-wall"])
def test_pion_correlators_of_all_translates_keep_their_mean_and_come_closer_to_it(small, storage, kind):
    """Whatever the vectors are worth: the mean over translates is that of plain correlators, of which each is farther off."""
    mass = 0.02
    places = ([(x, y, z, t) for t in range(4) for z in range(2) for y in range(2) for x in range(4)] if kind == "point" else
              [(t,) for t in range(4)])
    options = {"sources": "; ".join(f"{kind}:{','.join(map(str, place))}" for place in places), "batch": 24, "tolerance": 1e-12}
    session = small.session(16, storage)
    correlators = []
    for exact in (False, True):
        _, report = session.solve(mass, exact_low_modes=exact, **options)
        correlators.append(np.array([np.roll(source["pion_correlator"], -place[-1])
                                     for place, source in zip(places, report["sources"])]))
    plain, found = correlators
    assert plain.mean(axis=0) == pytest.approx(small.mean_correlator(mass, kind), rel=1e-9)
    assert found.mean(axis=0) == pytest.approx(plain.mean(axis=0), rel=1e-10)
    assert np.all(found.std(axis=0) < 0.5 * plain.std(axis=0))


@pytest.mark.parametrize("storage, source, options, words", [
    ("fp16", "z2:1", {}, "exact_low_modes: expected eigenvectors in fp64 or fp32"),
    ("fp64", "z2:1", {"system": "even"}, "exact_low_modes: expected the full system, found even"),
    ("fp64", "wall:0", {"color": 1}, "found wall:0 of colour 1"),
    ("fp64", "fields", {}, "exact_low_modes: expected a noise source, as z2:1, or a point or wall with all three colours"),
    ("fp64", None, {"sources": "wall:1; point:0,0,0,0", "color": 0}, "found wall:1 of colour 0; point:0,0,0,0 of colour 0"),
])
def test_low_modes_that_cannot_be_exact_are_refused(sessions, storage, source, options, words):
    if source == "fields":
        source, words = reference.random_vector(EXTENTS, 121), words + ", without operators, whose condensate or correlator they are a part of, found fields"
    assert words in refused(lambda: sessions[storage].solve(0.1, source, exact_low_modes=True, **options))


def test_program_refuses_a_source_that_has_no_low_part_before_it_reads_anything(staghorn, expect_error):
    result = staghorn("solve", "--gauge", "links.h5", "--eigenvectors", "low.h5", "--mass", 0.1, "--source", "file:b.h5",
                      "--exact-low-modes")
    expect_error(result, 1, "exact-low-modes", "point or wall with all three colours", "found file:b.h5")


def test_more_right_hand_sides_than_fit_take_turns(sessions):
    b = np.array([reference.random_vector(EXTENTS, 120 + i) for i in range(34)])
    x, report = sessions["fp64"].solve(0.3, b, system="even")
    assert report["batch"] == {**report["batch"], "columns": 17, "refills": False}
    assert report["deflation"]["projections"] == 2 and len(report["rhs"]) == 34
    for half in (slice(0, 17), slice(17, 34)):
        single, of_half = sessions["fp64"].solve(0.3, b[half], system="even")
        assert x[half].tobytes() == single.tobytes() and report["rhs"][half] == of_half["rhs"]
    # With several masses a source of the full system takes two places.
    x, report = sessions["fp64"].solve(None, b[:18], masses=[0.3, 0.5])
    assert report["batch"]["columns"] == 9 and report["outcome"] == "certified" and x.shape[:2] == (2, 18)
    single, of_half = sessions["fp64"].solve(None, b[9:18], masses=[0.3, 0.5])
    assert x[:, 9:].tobytes() == single.tobytes() and report["rhs"][9:18] == of_half["rhs"][:9]
    assert "at most 32 right-hand sides with eigenvectors" in refused(
        lambda: sessions["fp64"].solve(0.3, b, system="even", chronological=2))
