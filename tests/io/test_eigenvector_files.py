"""Files of eigenvectors: read on any grid, written with the same bytes, in Staghorn's HDF5 and in the form of MILC."""

from __future__ import annotations

import json
import math

import h5py
import numpy as np
import numpy_formats as formats
import pytest
from eigenpair_files import eigenpairs, even_rows, on_lattice, write_eigenpairs
from solve_files import with_checksums
from staghorn import reference

EXTENTS = (6, 2, 4, 8)
PAIRS = 18  # two blocks
GRIDS = [(1, 1, 1, 1), (2, 1, 1, 1), (2, 1, 2, 2)]


@pytest.fixture(scope="module")
def links():
    return reference.random_links(EXTENTS, seed=191)


@pytest.fixture(scope="module")
def gauge(links, tmp_path_factory):
    path = tmp_path_factory.mktemp("gauge") / "links.h5"
    with h5py.File(path, "w") as file:
        file["links"] = links
        with_checksums(file["links"])
        file["links"].attrs["plaquette"] = float(reference.plaquettes(links)["all"])
    return path


@pytest.fixture(scope="module")
def operator(links):
    return reference.StaggeredOperator(links)


@pytest.fixture(scope="module")
def pairs(operator):
    values, vectors = eigenpairs(operator.d, EXTENTS)
    return values[:PAIRS], vectors[:PAIRS]


@pytest.fixture
def copy(run_built, gauge):
    """copy(source, target, precision, grid): the file once more, through the fields of the kernels."""

    def run(source, target, precision="fp64", grid=(1, 1, 1, 1)):
        result = run_built("eigenpair_copies", source, target, precision, gauge, *grid, ranks=math.prod(grid),
                           env={"SOURCE_DATE_EPOCH": "0"})
        assert result.returncode == 0, result.stdout + result.stderr
        return tuple(float.fromhex(number) for number in result.stdout.split())

    return run


def packed(vectors):
    """What packed records hold of vectors [n, T, Z, Y, X, 3] in MILC's phases: the sites with t < T/2. Odd ones among them
    stand for the even sites one step ahead in x and T/2 in t."""
    half = vectors.shape[1] // 2
    even = (np.indices(vectors.shape[1:5]).sum(axis=0) % 2 == 0)[:half, ..., None]
    return np.where(even, vectors[:, :half], np.roll(vectors[:, half:], -1, axis=-2))


PACKED = "<format>Packed</format>"


def in_half(extents, upper=None):
    """Of the private XML of a record: it lies on the sites with t < T/2."""
    x, y, z, t = extents
    upper = upper or f"{x - 1} {y - 1} {z - 1} {t // 2 - 1} "
    return (f"<version>1.1</version><recordtype>2</recordtype><spacetime>4</spacetime><hyperlower>0 0 0 0 </hyperlower>"
            f"<hyperupper>{upper}</hyperupper>").encode()


def milc_file(extents, values, vectors, title="KS eigenvalues and vectors", bits=64, count=None, wrong_sum=None, form="",
              part=None, digits="{:.18e}", residual="<resid>1e-12</resid>") -> bytes:
    """What MILC writes, of vectors [n, T, Z, Y, X, 3] in MILC's phases: on all sites, or on those that `part` says."""
    records = b""
    head = f"<title>{title}</title><Nvecs>{count or len(values)}</Nvecs>{form}"
    for k, (value, vector) in enumerate(zip(values, vectors)):
        data = formats.real_bytes(vector, bits, ">")
        whole = formats.scidac_records(extents, "ColorVector", bits, 6 * bits // 8, 1, data)
        for kind, flags, content in formats.lime_records(whole):
            if kind in ("scidac-private-file-xml", "scidac-file-xml") and k > 0:
                continue
            if kind == "scidac-file-xml":
                content = head.encode()
            if kind == "scidac-private-record-xml" and part:
                content = content.replace(b"<version>1.0</version><globaldata>0</globaldata>", part)
            if kind == "scidac-record-xml":
                content = f"<eigVal>{digits.format(value)}</eigVal>{residual}".encode()
            if kind == "scidac-checksum" and k == wrong_sum:
                content = content.replace(b"<suma>", b"<suma>1")
            records += formats.lime_record(kind, content, first=bool(flags & 0x8000), last=bool(flags & 0x4000))
    return records


def in_milc_form(operator, values, vectors):
    """v + i D v / sqrt(lambda) in MILC's phases."""
    sign = reference.milc_sign(EXTENTS)
    return np.array([sign * (v + 1j * operator.d(v) / np.sqrt(value)) for value, v in zip(values, vectors)])


@pytest.mark.mpi
@pytest.mark.parametrize("precision", ["fp64", "fp32", "fp16"])
def test_same_bytes_from_every_grid_and_exactly_what_was_read(copy, tmp_path, links, pairs, precision):
    source = write_eigenpairs(tmp_path / "numpy.h5", *pairs, links, precision, residual=1e-3)
    found, certificates = [], set()
    for k, grid in enumerate(GRIDS):
        certificates.add(copy(source, tmp_path / f"{k}.h5", precision=precision, grid=grid))
        found.append((tmp_path / f"{k}.h5").read_bytes())
    assert len(set(found)) == 1 and len(certificates) == 1
    with h5py.File(source) as given, h5py.File(tmp_path / "0.h5") as written:
        for name in ("eigenvalues", "residuals"):
            assert np.array_equal(given[name][...], written[name][...])
        for name in ("eigenvalues_crc32", "residuals_crc32", "parity"):
            assert given["eigenvectors"].attrs[name] == written["eigenvectors"].attrs[name]
        a, b = given["eigenvectors"][...], written["eigenvectors"][...]
        assert a.dtype == b.dtype
        if precision == "fp16":  # fields compute the unit of a site in float: it may differ in its last bits
            assert np.array_equal(a[..., :6], b[..., :6])
            units = [np.ascontiguousarray(numbers[..., 6:]).view("<f4") for numbers in (a, b)]
            assert np.allclose(*units, rtol=2.0**-22, atol=0)
        else:
            assert np.array_equal(a, b)


def test_rounding_of_each_precision_is_its_own(copy, tmp_path, links, pairs):
    source = write_eigenpairs(tmp_path / "fp64.h5", *pairs, links)
    for precision, epsilon in (("fp32", 2.0**-24), ("fp16", 2.0**-16)):
        copy(source, tmp_path / "rounded.h5", precision=precision)
        with h5py.File(tmp_path / "rounded.h5") as file:
            numbers = file["eigenvectors"][...]
        if precision == "fp16":
            unit = np.ascontiguousarray(numbers[..., 6:]).view("<f4").astype(float)
            numbers = (numbers[..., :6:2] + 1j * numbers[..., 1:6:2]) * unit
        error = np.abs(numbers - even_rows(pairs[1]))
        assert epsilon / 100 < error.max() / np.abs(pairs[1]).max() < 1.5 * epsilon


@pytest.mark.mpi
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_milc_form_is_written_and_read(copy, tmp_path, links, operator, pairs, precision):
    values, vectors = pairs
    source = write_eigenpairs(tmp_path / "numpy.h5", values, vectors, links)
    files = []
    for k, grid in enumerate(GRIDS[:2]):
        copy(source, tmp_path / f"{k}.scidac", precision, grid)
        files.append((tmp_path / f"{k}.scidac").read_bytes())
    assert files[0] == files[1]
    expected = in_milc_form(operator, values, vectors)
    written = [content for kind, _, content in formats.lime_records(files[0]) if kind == "scidac-binary-data"]
    texts = b"".join(content for kind, _, content in formats.lime_records(files[0]) if kind.endswith("xml"))
    assert len(written) == PAIRS and b"<title>KS eigenvalues and vectors</title><Nvecs>18</Nvecs>" in texts
    for k, data in enumerate(written):
        v = formats.complex_numbers(data, 64 if precision == "fp64" else 32, ">").reshape(expected[k].shape)
        assert np.abs(v - expected[k]).max() < (1e-11 if precision == "fp64" else 1e-6)
        assert f"<eigVal>{values[k]:.18e}</eigVal>".encode() in texts
    # and back
    copy(tmp_path / "0.scidac", tmp_path / "back.h5", precision=precision, grid=GRIDS[2])
    with h5py.File(tmp_path / "back.h5") as file:
        assert np.allclose(on_lattice(file["eigenvectors"][...].astype(complex)), vectors, atol=1e-15 if precision == "fp64" else 1e-7)
        assert np.allclose(file["eigenvalues"][...], values, rtol=1e-15)


@pytest.mark.mpi
@pytest.mark.parametrize("bits", [64, 32])
def test_packed_form_is_written_and_read(copy, tmp_path, links, pairs, bits):
    values, vectors = pairs
    source = write_eigenpairs(tmp_path / "numpy.h5", values, vectors, links)
    files = []
    for k, grid in enumerate([(1, 1, 1, 1), (2, 1, 1, 2)]):
        copy(source, tmp_path / f"{k}.packed.scidac", f"fp{bits}", grid)
        files.append((tmp_path / f"{k}.packed.scidac").read_bytes())
    assert files[0] == files[1]
    stored = packed(reference.milc_sign(EXTENTS) * vectors)
    expected = milc_file(EXTENTS, values, stored, bits=bits, form=PACKED, part=in_half(EXTENTS))
    found = [[content for kind, _, content in formats.lime_records(file) if kind == "scidac-binary-data"] for file in (files[0], expected)]
    assert len(found[0]) == PAIRS and found[0] == found[1] and len(found[0][0]) == math.prod(EXTENTS) // 2 * 6 * bits // 8
    texts = [b"".join(content for kind, _, content in formats.lime_records(file) if kind != "scidac-binary-data").decode()
             for file in (files[0], expected)]
    assert f"<Nvecs>18</Nvecs>{PACKED}" in texts[0]
    for tag in ("recordtype", "hyperlower", "hyperupper", "eigVal", "suma", "sumb"):
        said = [[words.split("<")[0].strip() for words in text.split(f"<{tag}>")[1:]] for text in texts]
        said = [[int(word, 16) for word in words] if tag.startswith("sum") else words for words in said]
        assert len(said[0]) == PAIRS and said[0] == said[1], tag
    # What NumPy has written: the same vectors, bit for bit, whether t, x or all directions are cut
    (tmp_path / "numpy.lime").write_bytes(expected)
    for grid in ((1, 1, 1, 1), (1, 1, 1, 2), (3, 1, 2, 1)):
        copy(tmp_path / "numpy.lime", tmp_path / "back.h5", f"fp{bits}", grid)
        with h5py.File(tmp_path / "back.h5") as file:
            assert np.array_equal(file["eigenvectors"][...], even_rows(vectors).astype(file["eigenvectors"].dtype))


@pytest.mark.mpi
@pytest.mark.parametrize("form", ["milc", "milc-packed"])
def test_milc_file_deflates_a_solve(staghorn, tmp_path, gauge, links, operator, pairs, form):
    values, vectors = pairs
    order = np.random.default_rng(3).permutation(PAIRS)  # values in no order
    path = tmp_path / "milc.lime"
    whole = in_milc_form(operator, values, vectors)[order]
    path.write_bytes(milc_file(EXTENTS, values[order], whole) if form == "milc" else
                     milc_file(EXTENTS, values[order], packed(whole), form=PACKED, part=in_half(EXTENTS)))
    solve = ["solve", "--gauge", gauge, "--mass", 0.02, "--system", "even", "--source", "z2:1", "--eigenvectors"]
    staghorn(*solve, write_eigenpairs(tmp_path / "numpy.h5", values, vectors, links), "--output", tmp_path / "x.npy", check=True)
    for k, cut in enumerate(([], ["--shares", "x=1:2,t=1:3"])):
        staghorn(*solve, path, "--report", tmp_path / f"{k}.json", "--output", tmp_path / f"{k}.npy", *cut, ranks=1 + 3 * k, check=True)
        report = json.loads((tmp_path / f"{k}.json").read_text())
        assert report["deflation"]["format"] == form and report["deflation"]["pairs"] == PAIRS
        assert report["deflation"]["largest_residual"] < 1e-12 and report["outcome"] == "certified"
        assert (tmp_path / f"{k}.npy").read_bytes() == (tmp_path / "x.npy").read_bytes()
    inspected = json.loads(staghorn("inspect", path, "--json", check=True).stdout)
    assert inspected["holds"] == "eigenvectors" and np.allclose(inspected["values"], values, rtol=1e-15)
    assert inspected["format"] == form


@pytest.fixture(scope="module")
def measured(staghorn, gauge, tmp_path_factory):
    """measured(file): a condensate and a correlator with exact low modes, its report, and the bytes of a deflated solution."""
    folder = tmp_path_factory.mktemp("measured")

    def run(file):
        answers = []
        for source in ("z2:1", "wall:0"):
            result = staghorn("solve", "--gauge", gauge, "--mass", 0.02, "--source", source, "--eigenvectors", file, "--exact-low-modes",
                              "--output", folder / "x.npy", "--report", folder / "x.json", "--force")
            if result.returncode != 0:
                return result
            report = json.loads((folder / "x.json").read_text())
            answers.append([report[name] for name in ("condensate", "pion_correlator", "pion_low_part", "rhs")])
            answers.append((folder / "x.npy").read_bytes())
        return answers, report["deflation"]

    return run


@pytest.mark.parametrize("form", ["milc", "milc-packed"])
def test_no_digit_of_a_text_without_checksum_changes_an_answer(staghorn, measured, tmp_path, operator, pairs, form):
    """A change is an error that names the pair, or so small that nothing depends on it."""
    values, vectors = pairs
    whole = in_milc_form(operator, values, vectors)
    path = tmp_path / "changed.lime"

    def write(values, **how):
        path.write_bytes(milc_file(EXTENTS, values, whole, **how) if form == "milc" else
                         milc_file(EXTENTS, values, packed(whole), form=PACKED, part=in_half(EXTENTS), **how))
        return measured(path)

    answers, deflation = write(values)
    assert deflation["largest_change"] < 1e-12 and deflation["largest_residual"] < 1e-12
    assert answers[0][0]["low_part_error"] < 1e-9 * answers[0][0]["low_part"]
    numbers = f"{values[1]:.18e}".partition("e")
    refused = 0
    for place in [i for i, c in enumerate(numbers[0]) if c.isdigit()]:
        digit = numbers[0][place]
        text = numbers[0][:place] + str((int(digit) + 3) % 10) + numbers[0][place + 1:] + "e" + numbers[2]
        changed = np.array(values)
        changed[1] = float(text)
        found = write(changed)
        if isinstance(found, tuple):
            assert found[0] == answers and abs(changed[1] - values[1]) < 2.1e-12, text
            continue
        refused += 1
        assert found.returncode == 1 and "<eigVal>" in found.stderr and "changed.lime: eigenvalue of eigenpair" in found.stderr
    assert refused >= 6
    for residual in ("1e-12", "1.000001e-12", "3e-3"):
        assert write(values, residual=f"<resid>{residual}</resid>")[0] == answers
    too_good = write(values, residual="<resid>1e-19</resid>")
    assert isinstance(too_good, tuple) or "|K v - lambda v| of eigenpair" in too_good.stderr
    # Without residuals, or with few digits, the vectors alone say what a value is.
    for how in ({"residual": ""}, {"digits": "{:.3e}"}, {"residual": "<resid>0</resid>", "digits": "{:.17g}"}):
        assert write(values, **how)[0] == answers, how
    assert "eigenvalue of eigenpair 17" in write(values * np.where(np.arange(PAIRS) == 17, 1.0005, 1), residual="").stderr


def test_values_of_staghorns_files_are_found_anew(staghorn, measured, tmp_path, links, pairs):
    """A checksum covers them there; a file with other values and the right checksum is refused, or answers are the same."""
    values, vectors = pairs
    for storage in ("fp64", "fp32"):
        path = write_eigenpairs(tmp_path / "good.h5", values, vectors, links, storage)
        answers, deflation = measured(path)
        assert deflation["largest_change"] < {"fp64": 1e-13, "fp32": 1e-10}[storage]
        changed = values * np.where(np.arange(PAIRS) == 2, 1 + 1e-14, 1)
        assert measured(write_eigenpairs(tmp_path / "good.h5", changed, vectors, links, storage))[0] == answers
        changed = values * np.where(np.arange(PAIRS) == 2, 1.0005, 1)
        refused = measured(write_eigenpairs(tmp_path / "good.h5", changed, vectors, links, storage))
        assert refused.returncode == 1 and "eigenvalue of eigenpair 2" in refused.stderr


def test_pairs_come_into_the_order_of_their_values(measured, tmp_path, links, pairs):
    """Where the texts have another order than the vectors, within the residuals that the file says."""
    values, vectors = pairs
    mixed = np.random.default_rng(4).permutation(PAIRS)
    spread = np.full(PAIRS, values.mean())  # all one value: the order of the file stays
    answers, _ = measured(write_eigenpairs(tmp_path / "good.h5", values, vectors, links, residual=1.0))
    for storage in ("fp64", "fp32"):
        good = measured(write_eigenpairs(tmp_path / "good.h5", values, vectors, links, storage, residual=1.0))
        bad = measured(write_eigenpairs(tmp_path / "bad.h5", spread, vectors[mixed], links, storage, residual=1.0))
        assert good[0] == bad[0] and bad[1]["largest_change"] > 0.01 and bad[1]["smallest"] == good[1]["smallest"]


def test_milc_files_that_are_wrong_are_refused(staghorn, expect_error, tmp_path, gauge, operator, pairs):
    values, vectors = pairs
    whole = in_milc_form(operator, values, vectors)
    half, as_packed = packed(whole), {"form": PACKED, "part": in_half(EXTENTS)}
    good = milc_file(EXTENTS, values, half, **as_packed)
    flipped = bytearray(good)
    flipped[good.index(b"scidac-binary-data") + 1000] ^= 4
    x, y, z, t = EXTENTS
    no_multiple = np.zeros((1, 3, z, y, x, 3))
    bad = tmp_path / "bad.lime"
    for content, words in (
        (milc_file(EXTENTS, values, whole, count=17), ["records of vectors", "17", "18"]),
        (milc_file(EXTENTS, values, whole, wrong_sum=3), ["record 3", "suma"]),
        (milc_file(EXTENTS, values, whole, form="<format>Other</format>"), ["<format>", "none, or Packed", "Other"]),
        (milc_file(EXTENTS, -values, whole), ["eigenvalue 0"]),
        (milc_file(EXTENTS, values, whole * (1 + reference.milc_sign(EXTENTS))), ["eigenpair"]),
        (milc_file(EXTENTS, values, whole)[:-9000], ["truncated", "scidac-binary-data"]),
        (good[:-5000], ["truncated", "scidac-binary-data", "9216 bytes"]),
        (bytes(flipped), ["record 0", "suma stored"]),
        (milc_file(EXTENTS, values, half, form=PACKED, part=in_half(EXTENTS, "5 1 3 2 ")), ["Packed", "0 0 0 0 to 5 1 3 3", "0 0 0 0 to 5 1 3 2"]),
        (milc_file(EXTENTS, values, half, form=PACKED, part=in_half(EXTENTS, "5 1 3 ")), ["field", "'0 0 0 0' to '5 1 3'"]),
        (milc_file(EXTENTS, values, whole, form=PACKED), ["Packed", "0 0 0 0 to 5 1 3 3", "the whole lattice"]),
        (milc_file(EXTENTS, values, half, part=in_half(EXTENTS)), ["no <format>", "the whole lattice", "0 0 0 0 to 5 1 3 3"]),
        (milc_file(EXTENTS, values, whole, **as_packed), ["sites 0 0 0 0 to 5 1 3 3", "18432 in all"]),
        (good.replace(b"<dims>6 2 4 8 ", b"<dims>6 2 4 -8"), ["<dims>", "four extents from 1 to", "-8"]),
        (milc_file((x, y, z, 6), [1.0], no_multiple, form=PACKED, part=in_half((x, y, z, 6))), ["T of packed eigenvectors", "a multiple of 4", "6"]),
    ):
        bad.write_bytes(content)
        result = staghorn("solve", "--gauge", gauge, "--mass", 0.02, "--source", "z2:1", "--eigenvectors", bad)
        expect_error(result, 1, "bad.lime", *words)
    bad.write_bytes(good)  # half of the lattice is no source
    expect_error(staghorn("solve", "--gauge", gauge, "--mass", 0.02, "--source", f"file:{bad}"), 1, "bad.lime",
                 "one on the whole lattice", "<recordtype> 2, from '0 0 0 0' to '5 1 3 3'")


def test_inspect_tells_what_pairs_a_file_has(staghorn, tmp_path, links, pairs):
    path = write_eigenpairs(tmp_path / "fp16.h5", *pairs, links, "fp16", residual=1e-3)
    found = json.loads(staghorn("inspect", path, "--json", check=True).stdout)
    assert found["holds"] == "eigenvectors" and found["pairs"] == PAIRS and found["precision"] == "fp16"
    assert found["values"] == list(pairs[0]) and found["residuals"] == [1e-3] * PAIRS
    assert 0 < found["departure_from_norm"] < 1e-4 and found["header"]["action"] == "naive"
    text = staghorn("inspect", path, check=True).stdout
    assert "18 of -D^2 on even sites" in text and "match" in text
