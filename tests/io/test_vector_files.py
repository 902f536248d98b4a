"""Colour vectors in files: sources in every layout, checksums of solutions."""

from __future__ import annotations

import json
import re

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from solve_files import solve

SHAPE = (10, 8, 6, 4, 3)
QUICK = ["--mass", 1.0, "--tolerance", 1e-8]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Two sources [2, T, Z, Y, X, 3] whose numbers are exact in fp32."""
    generator = np.random.default_rng(5)
    return (generator.integers(-99, 99, (2, *SHAPE)) + 1j * generator.integers(-99, 99, (2, *SHAPE))).astype(complex)


@pytest.fixture(scope="module")
def expected(staghorn, small_gauge, vectors, tmp_path_factory) -> np.ndarray:
    folder = tmp_path_factory.mktemp("expected")
    formats.h5py_file(folder / "source.h5", "source", vectors)
    return solve(staghorn, folder, small_gauge, "--source", f"file:{folder / 'source.h5'}", *QUICK)[1]


VARIANTS = {
    "single": {"dtype": np.complex64},
    "compressed": {"chunks": (1, 5, 3, 6, 4, 3), "compression": "gzip"},
    "big-endian": {"dtype": np.dtype(">c16")},
    "many-chunks-with-fletcher32": {"chunks": (2, 3, 8, 5, 3, 2), "compression": "gzip", "shuffle": True, "fletcher32": True},
}


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_source_is_read_from_any_layout(variant, ranks, staghorn, small_gauge, vectors, expected, tmp_path):
    path = tmp_path / "source.h5"
    options = VARIANTS[variant]
    formats.h5py_file(path, "source", vectors.astype(options.get("dtype", complex)), **options)
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)[1]
    assert solution.tobytes() == expected.tobytes()


@pytest.mark.parametrize("bits", [32, 64])
def test_source_is_read_from_scidac(bits, staghorn, small_gauge, vectors, expected, tmp_path):
    path = tmp_path / "source.scidac"
    path.write_bytes(formats.scidac_vector_file(vectors[1], bits))
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK)[1]
    assert solution.shape == (1, *SHAPE)
    assert solution[0].tobytes() == expected[1].tobytes()


def test_solution_carries_its_checksum(staghorn, small_gauge, tmp_path):
    solve(staghorn, tmp_path, small_gauge, "--source", "point:0,0,0,0", "--color", "all", *QUICK)
    with h5py.File(tmp_path / "solve.h5") as file:
        dataset = file["solution"]
        assert dataset.shape == (3, *SHAPE) and dataset.dtype == np.complex128
        for name, value in formats.h5py_checksums(dataset[...]).items():
            assert dataset.attrs[name].decode() == value


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("bits", [32, 64])
def test_several_vectors_a_site_are_read_from_scidac(bits, ranks, staghorn, small_gauge, vectors, expected, tmp_path):
    path = tmp_path / "source.scidac"
    path.write_bytes(formats.scidac_vector_file(vectors, bits))
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)[1]
    assert solution.tobytes() == expected.tobytes()


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("name, option", [("x.scidac", []), ("x.lime", []), ("x", ["--output-format", "scidac"])])
def test_solution_is_written_in_scidac(name, option, ranks, staghorn, small_gauge, tmp_path):
    point = ["solve", "--gauge", small_gauge, "--source", "point:1,2,3,4", *QUICK]
    staghorn(*point, "--output", tmp_path / "x.h5", check=True)
    staghorn(*point, "--output", tmp_path / name, *option, ranks=ranks, check=True)
    with h5py.File(tmp_path / "x.h5") as file:
        assert formats.read_scidac_vectors((tmp_path / name).read_bytes()).tobytes() == file["solution"][...].tobytes()
    # As a guess it leaves nothing to do.
    result = staghorn(*point, "--guess", tmp_path / name, "--report", tmp_path / "x.json", check=True)
    assert [rhs["iterations"] for rhs in json.loads((tmp_path / "x.json").read_text())["rhs"]] == [0, 0, 0], result.stdout


@pytest.mark.mpi
def test_scidac_solutions_have_the_same_bytes_on_any_grid(staghorn, small_gauge, tmp_path):
    for ranks in (1, 2, 8):
        staghorn("solve", "--gauge", small_gauge, *QUICK, "--output", tmp_path / f"{ranks}.scidac", ranks=ranks,
                 env={"SOURCE_DATE_EPOCH": "0"}, check=True)
    assert len({(tmp_path / f"{ranks}.scidac").read_bytes() for ranks in (1, 2, 8)}) == 1


def test_output_format_is_named_where_it_is_wrong(staghorn, small_gauge, expect_error, tmp_path):
    command = ["solve", "--gauge", small_gauge, *QUICK]
    expect_error(staghorn(*command, "--output", tmp_path / "x", "--output-format", "nersc"), 2, "--output-format", "hdf5, scidac, npy or fnal")
    expect_error(staghorn(*command, "--output-format", "hdf5"), 2, "--output-format belongs to --output")


@pytest.mark.parametrize("ranks", [1, pytest.param(4, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("byte_order", "<>")
def test_fnal_propagator_is_read(byte_order, ranks, staghorn, small_gauge, vectors, tmp_path):
    propagator = np.stack([vectors[0], vectors[1], vectors[0] - vectors[1]])
    formats.h5py_file(tmp_path / "source.h5", "source", propagator)
    expected = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{tmp_path / 'source.h5'}", *QUICK)[1]
    path = tmp_path / "ks.prop"
    content, info = formats.fnal_propagator(propagator, byte_order)
    path.write_bytes(content)
    path.with_name("ks.prop.info").write_text(info)
    solution = solve(staghorn, tmp_path, small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)[1]
    assert solution.tobytes() == expected.tobytes()


def test_fnal_propagator_is_verified_by_milcs_text_file(staghorn, small_gauge, vectors, expect_error, tmp_path):
    path = tmp_path / "ks.prop"
    content, info = formats.fnal_propagator(vectors[[0, 1, 0]])
    command = ["solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK]
    path.write_bytes(content)
    expect_error(staghorn(*command), 1, path, "no sum29 of t=0 (computed", "--no-verify")
    staghorn(*command, "--no-verify", check=True)
    path.with_name("ks.prop.info").write_text(info)
    staghorn(*command, check=True)
    damaged = bytearray(content)
    damaged[36 + 72 * (7 * 192 + 5)] ^= 1  # site 5 of slice 7
    path.write_bytes(damaged)
    message = expect_error(staghorn(*command), 1, path, "sum29 of t=7 stored", "sum31 of t=7 stored")
    assert "t=6" not in message and "t=8" not in message


@pytest.mark.parametrize("change, words", [
    ({"order": 1}, ["order of sites"]),
    ({"element_bytes": 8}, ["4 bytes a real", "8 bytes"]),
    (lambda content: content[:-1], ["truncated", "bytes"]),
    (lambda content: content[:20], ["bytes"]),
], ids=["order", "fp64", "truncated", "header only"])
def test_wrong_fnal_propagator_is_refused(change, words, staghorn, vectors, expect_error, tmp_path):
    path = tmp_path / "ks.prop"
    options = change if isinstance(change, dict) else {}
    content = formats.fnal_propagator(vectors[[0, 1, 0]], **options)[0]
    path.write_bytes(change(content) if callable(change) else content)
    expect_error(staghorn("inspect", path), 1, path, *words)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("kind", ["hdf5", "scidac", "fnal"])
def test_inspect_explains_vectors(kind, ranks, staghorn, vectors, tmp_path):
    path = tmp_path / "vectors"
    held = vectors[[0, 1, 0]] if kind == "fnal" else vectors
    if kind == "hdf5":
        formats.h5py_file(path, "solution", held)
    elif kind == "scidac":
        path.write_bytes(formats.scidac_vector_file(held, 64))
    else:
        content, info = formats.fnal_propagator(held)
        path.write_bytes(content)
        path.with_name("vectors.info").write_text(info)
    found = json.loads(staghorn("inspect", path, "--json", ranks=ranks, check=True).stdout)
    assert (found["format"], found["lattice"], found["vectors"]) == (kind, [4, 6, 8, 10], len(held))
    assert found["intact"] and found["precision"] == ("fp32" if kind == "fnal" else "fp64")
    assert [n["norm2"] for n in found["norms"]] == [float((abs(v) ** 2).sum()) for v in held]
    assert kind in staghorn("inspect", path, check=True).stdout


def test_inspect_tells_damaged_vectors(staghorn, vectors, expect_error, tmp_path):
    path = tmp_path / "x.scidac"
    content = bytearray(formats.scidac_vector_file(vectors))
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    expect_error(staghorn("inspect", path), 1, path, "suma stored", "computed")
    assert json.loads(staghorn("inspect", path, "--json", "--no-verify", check=True).stdout)["intact"] is False


@pytest.mark.reference
def test_inspect_finds_the_published_norm_of_milcs_vectors(staghorn, reference_data):
    published = json.loads((reference_data / "reference.json").read_text())["improved_fat_long_l8"]["ksvector_sample"]
    for name, norm2 in (("src", published["src_norm2"]), ("ans.Minv", published["ans_norm2_file"])):
        found = json.loads(staghorn("inspect", reference_data / f"ksvector.{name}.sample.l8", "--json", check=True).stdout)
        assert found["norms"][0]["norm2"] == pytest.approx(norm2, rel=1e-12)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("kind", ["hdf5", "scidac"])
def test_source_with_flipped_bit_is_refused(kind, ranks, staghorn, small_gauge, vectors, tmp_path):
    path = tmp_path / "source"
    if kind == "hdf5":
        formats.h5py_file(path, "source", vectors)
    else:
        path.write_bytes(formats.scidac_vector_file(vectors[0]))
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 1
    path.write_bytes(content)
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK, ranks=ranks)
    assert result.returncode == 1
    assert str(path) in result.stderr and "stored" in result.stderr and "computed" in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (np.zeros((1, 10, 8, 6, 6, 3), complex), ["4x6x8x10", "6x6x8x10"]),
        (np.zeros((1, 10, 8, 6, 4, 2), complex), ["(n_rhs, T, Z, Y, X, 3)"]),
        (np.zeros((1, 10, 8, 6, 4, 3)), ["complex"]),
    ],
    ids=["extents", "colours", "real"],
)
def test_wrong_source_is_refused(content, words, staghorn, small_gauge, tmp_path):
    path = tmp_path / "source.h5"
    with h5py.File(path, "w") as file:
        file["source"] = content
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK)
    assert result.returncode == 1
    assert all(word in result.stderr for word in (str(path), *words))


@pytest.mark.parametrize("kind", ["source", "guess", "scidac-source"])
def test_vectors_without_checksums_are_refused_unless_no_verify_says_otherwise(kind, staghorn, small_gauge, vectors, tmp_path):
    path = tmp_path / "vectors"
    if kind == "scidac-source":
        path.write_bytes(formats.scidac_vector_file(vectors[0], checksum=False))
    else:
        with h5py.File(path, "w") as file:
            file["solution" if kind == "guess" else "source"] = vectors[:1]
    given = ["--guess", path, "--color", 0] if kind == "guess" else ["--source", f"file:{path}"]
    command = ["solve", "--gauge", small_gauge, *given, *QUICK, "--report", tmp_path / "report.json"]
    result = staghorn(*command)
    assert result.returncode == 1 and str(path) in result.stderr and "no suma (computed" in result.stderr
    assert "verify" in result.stderr and not (tmp_path / "report.json").exists()
    result = staghorn(*command, "--no-verify", check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verified"] is False and report["gauge"]["verified"] is True
    assert len(report["unverified"]) == 2 and str(path) in report["unverified"][0]
    assert "UNVERIFIED INPUT" in result.stdout and str(path) in result.stdout


def test_gauge_file_is_no_source(staghorn, small_gauge, links, tmp_path):
    path = tmp_path / "links.scidac"
    path.write_bytes(formats.scidac_file(links))
    result = staghorn("solve", "--gauge", small_gauge, "--source", f"file:{path}", *QUICK)
    assert result.returncode == 1 and "ColorVector" in result.stderr and "ColorMatrix" in result.stderr


def test_vector_file_is_no_configuration(staghorn, vectors, expect_error, tmp_path):
    path = tmp_path / "vectors.scidac"
    path.write_bytes(formats.scidac_vector_file(vectors))
    expect_error(staghorn("solve", "--gauge", path, *QUICK), 1, path, "four 3x3 matrices", "ColorVector")


@pytest.mark.parametrize("shape", ["one", "many"])
def test_arrays_of_numpy_are_sources_and_solutions(shape, staghorn, small_gauge, expect_error, tmp_path):
    """The solution in NumPy's array has the bits of that in HDF5. An array has no checksum: it is read on request alone."""
    lattice = (10, 8, 6, 4, 3)
    source = np.random.default_rng(5).normal(size=lattice if shape == "one" else (2, *lattice)) + 0.5j
    np.save(tmp_path / "b.npy", source)
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["source"] = source
    solve = ["solve", "--gauge", small_gauge, "--mass", 0.5, "--no-verify"]
    staghorn(*solve, "--source", f"file:{tmp_path / 'b.npy'}", "--output", tmp_path / "x.npy", "--report", tmp_path / "r.json",
             check=True)
    staghorn(*solve, "--source", f"file:{tmp_path / 'b.h5'}", "--output", tmp_path / "x.h5", check=True)
    with h5py.File(tmp_path / "x.h5") as file:
        assert np.array_equal(np.load(tmp_path / "x.npy"), file["solution"][()])
    assert "b.npy" in json.dumps(json.loads((tmp_path / "r.json").read_text())["unverified"])
    assert f"vectors     {1 if shape == 'one' else 2}" in staghorn("inspect", tmp_path / "b.npy", "--no-verify", check=True).stdout
    expect_error(staghorn(*solve[:-1], "--source", f"file:{tmp_path / 'b.npy'}"), 1, "b.npy", "no suma", "--no-verify")


@pytest.mark.parametrize("array, words", [
    (np.zeros((10, 8, 6, 4, 4), complex), ["shape", "(10, 8, 6, 4, 4)"]),
    (np.zeros((10, 8, 6, 3, 3), complex), ["3x6x8x10"]),
    (np.zeros((10, 8, 6, 4, 3)), ["'<f8'", "complex"]),
    (np.asfortranarray(np.zeros((10, 8, 6, 4, 3), complex)), ["fortran_order", "ascontiguousarray"]),
], ids=["colours", "odd", "real", "fortran"])
def test_other_arrays_of_numpy_are_refused(array, words, staghorn, small_gauge, expect_error, tmp_path):
    np.save(tmp_path / "b.npy", array)
    expect_error(staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--source", f"file:{tmp_path / 'b.npy'}", "--no-verify"),
                 1, "b.npy", *words)


@pytest.mark.parametrize("source", ["complex", "vector"])
def test_propagators_in_scidac_are_read_without_their_sources(source, staghorn, small_gauge, expect_error, tmp_path):
    vectors = np.random.default_rng(6).normal(size=(3, 10, 8, 6, 4, 3)) * (1 + 0.25j)
    (tmp_path / "prop").write_bytes(formats.ksprop_file(vectors, source, 64))
    np.save(tmp_path / "b.npy", vectors)
    for name in ("prop", "b.npy"):
        staghorn("solve", "--gauge", small_gauge, "--mass", 0.5, "--no-verify", "--source", f"file:{tmp_path / name}",
                 "--output", tmp_path / f"{name}.x.npy", check=True)
    assert np.array_equal(np.load(tmp_path / "prop.x.npy"), np.load(tmp_path / "b.npy.x.npy"))
    text = staghorn("inspect", tmp_path / "prop", check=True).stdout
    assert "vectors     3" in text and "sources left out = 3" in text and text.count("suma        match") == 3
    content = bytearray((tmp_path / "prop").read_bytes())
    content[-5000] ^= 1
    (tmp_path / "prop").write_bytes(content)
    expect_error(staghorn("inspect", tmp_path / "prop"), 1, "prop", "suma stored")


def test_a_field_of_one_time_slice_is_no_source(staghorn, small_gauge, expect_error, tmp_path):
    file = formats.scidac_vector_file(np.ones((10, 8, 6, 4, 3)) + 0j).replace(b"<globaldata>0<", b"<globaldata>2<")
    (tmp_path / "b").write_bytes(file)
    expect_error(staghorn("inspect", tmp_path / "b"), 1, "one on the whole lattice", "<globaldata> 2")


def sums_of_slices(info):
    """{t: (sum29, sum31)} of MILC's text file."""
    found = re.findall(r'^quark\.t\[(\d+)\]\.checksum +"([0-9a-f]+) ([0-9a-f]+)"$', info, re.MULTILINE)
    return {int(t): (int(a, 16), int(b, 16)) for t, a, b in found}


def test_solution_is_written_as_a_propagator_of_fnal(staghorn, small_gauge, tmp_path):
    """The bytes are those of the format's document, on any ranks; what is read back is the solution rounded to fp32."""
    path, expected = tmp_path / "x.fnal", solve(staghorn, tmp_path, small_gauge, *QUICK)[1]
    for ranks in (1, 2):
        found = staghorn("solve", "--gauge", small_gauge, *QUICK, "--output", path, "--force", ranks=ranks, check=True)
        assert f"solution in {path}, fp32" in found.stdout
        content, info = formats.fnal_propagator(expected)
        assert path.read_bytes() == content
        assert sums_of_slices(path.with_name("x.fnal.info").read_text()) == sums_of_slices(info) and len(sums_of_slices(info)) == 10
    assert json.loads(staghorn("inspect", path, "--json", check=True).stdout)["intact"]


@pytest.mark.parametrize("options, status, words", [
    (["--color", 1], 1, ["FNAL propagator", "3 vectors", "found 1"]),
    (["--source", "z2:3", "--noise-vectors", 3], 1, ["FNAL propagator", "three colours", "z2:3"]),
    (["--masses", "0.5,0.6"], 2, ["--output", "found --masses"]),
    (["--sources", "point:0,0,0,0"], 2, ["--output", "HDF5"]),
])
def test_what_is_no_propagator_is_not_written_as_one(options, status, words, staghorn, small_gauge, expect_error, tmp_path):
    quick = [] if options[0] == "--masses" else ["--mass", 0.5]
    expect_error(staghorn("solve", "--gauge", small_gauge, *quick, *options, "--output", tmp_path / "x.fnal"), status, *words)
    assert not list(tmp_path.iterdir())


def test_file_of_checksums_of_fnal_is_replaced_by_force_alone(staghorn, small_gauge, expect_error, tmp_path):
    (tmp_path / "x.fnal.info").write_text("other words")
    expect_error(staghorn("solve", "--gauge", small_gauge, *QUICK, "--output", tmp_path / "x.fnal"), 1, "x.fnal.info exists already")
    assert not (tmp_path / "x.fnal").exists()
