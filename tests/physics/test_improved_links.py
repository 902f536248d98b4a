"""Links of asqtad and HISQ quarks from `staghorn smear`: against explicit sums over paths, gauge covariance, exact sum rules."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from staghorn import improved_reference, reference
from solve_files import relative_difference

ACTIONS = {
    "asqtad": (["--action", "asqtad"], lambda links: improved_reference.asqtad_links(links)),
    "asqtad u0": (["--action", "asqtad", "--u0", 0.85], lambda links: improved_reference.asqtad_links(links, 0.85)),
    "hisq": (["--action", "hisq"], lambda links: improved_reference.hisq_links(links)),
    "hisq epsilon": (["--action", "hisq", "--naik-epsilon", -0.2247], lambda links: improved_reference.hisq_links(links, -0.2247)),
    "hisq su3": (["--action", "hisq", "--unitarize", "su3"], lambda links: improved_reference.hisq_links(links, su3=True)),
}


def read_links(path) -> np.ndarray:
    with h5py.File(path) as file:
        return file["links"][...].astype(complex)


@pytest.fixture(scope="module")
def smear(staghorn, tmp_path_factory):
    """smear(gauge, *options, ranks=1) -> (F, N) as written, [T, Z, Y, X, mu, 3, 3]."""

    def run(gauge, *options, ranks=1, threads=None):
        folder = tmp_path_factory.mktemp("smeared")
        staghorn("smear", "--gauge", gauge, *options, "--fat", folder / "fat.h5", "--long", folder / "long.h5", "--quiet", ranks=ranks,
                 threads=threads, check=True)
        return read_links(folder / "fat.h5"), read_links(folder / "long.h5")

    return run


@pytest.mark.parametrize("action", ACTIONS)
def test_links_are_the_sums_over_their_paths(smear, rough_gauge, action):
    options, expected = ACTIONS[action]
    fat, naik = smear(rough_gauge, *options)
    expected_fat, expected_naik = expected(read_links(rough_gauge))
    assert np.abs(fat - expected_fat).max() < 1e-14
    assert np.abs(naik - expected_naik).max() < 2e-15


def test_links_of_a_hot_start_are_projected_as_well_as_their_condition_allows(smear, small_gauge):
    fat, naik = smear(small_gauge, "--action", "hisq")
    expected_fat, expected_naik = improved_reference.hisq_links(read_links(small_gauge))
    assert np.abs(fat - expected_fat).max() < 1e-12  # the smallest singular value is 1.5e-3
    assert np.abs(naik - expected_naik).max() < 1e-12


@pytest.mark.mpi
@pytest.mark.parametrize("ranks, threads", [(1, 2), (2, 1), (4, 1), (8, 1)])
@pytest.mark.parametrize("action", ["asqtad u0", "hisq epsilon"])
def test_links_have_the_same_bits_on_any_grid(smear, small_gauge, action, ranks, threads):
    options, _ = ACTIONS[action]
    for cut, whole in zip(smear(small_gauge, *options, ranks=ranks, threads=threads), smear(small_gauge, *options)):
        assert cut.tobytes() == whole.tobytes()


@pytest.mark.parametrize("action", ["asqtad", "hisq"])
def test_smeared_links_transform_as_links(staghorn, smear, rough_gauge, tmp_path, action):
    links = read_links(rough_gauge)
    g = reference.random_su3(np.random.default_rng(3), links.shape[:4])
    with h5py.File(rough_gauge) as old, h5py.File(tmp_path / "turned.h5", "w") as new:
        old.copy("links", new)
        new["links"][...] = reference.gauge_transform_links(links, g).astype(old["links"].dtype)
        for name in [name for name in new["links"].attrs if name in ("suma", "sumb", "plaquette")]:
            del new["links"].attrs[name]
    turned = smear(tmp_path / "turned.h5", "--action", action, "--no-verify")  # its checksums are gone
    plain = smear(rough_gauge, "--action", action)
    for steps, before, after in zip((1, 3), plain, turned):
        ahead = np.stack([np.roll(g, -steps, axis=3 - mu) for mu in range(4)], axis=4)
        expected = g[..., None, :, :] @ before @ np.conj(np.swapaxes(ahead, -1, -2))
        assert relative_difference(after, expected) < 1e-14


@pytest.mark.parametrize("options, epsilon", [(["--action", "asqtad"], 0), (["--action", "hisq"], 0), (["--action", "hisq", "--naik-epsilon", -0.3], -0.3)])
def test_weights_of_free_links_add_up_to_the_naive_operator(staghorn, smear, tmp_path, options, epsilon):
    # A constant field sees F + 3 N: 1, the weight of the naive derivative; with epsilon 1/8 of it moves from N to F.
    staghorn("generate", "--lattice", 4, 4, 6, 8, "--start", "cold", "--output", tmp_path / "cold.h5", check=True)
    fat, naik = smear(tmp_path / "cold.h5", *options)
    assert np.abs(fat + 3 * naik - np.eye(3)).max() < 1e-14
    assert np.abs(naik + (1 + epsilon) / 24 * np.eye(3)).max() < 1e-15


def test_epsilon_changes_fat_links_by_an_eighth_of_the_projected_ones(smear, rough_gauge):
    fat, naik = smear(rough_gauge, "--action", "hisq")
    fat_of_epsilon, naik_of_epsilon = smear(rough_gauge, "--action", "hisq", "--naik-epsilon", -0.2)
    projected = improved_reference.unitary_projection(improved_reference.smeared_links(read_links(rough_gauge), improved_reference.FAT7))
    assert np.abs(fat_of_epsilon - fat + 0.2 / 8 * projected).max() < 1e-14
    assert np.abs(naik_of_epsilon - 0.8 * naik).max() < 1e-16


@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_phases_and_boundary_signs_can_be_multiplied_in(smear, rough_gauge, phases):
    plain = smear(rough_gauge, "--action", "hisq")
    signed = smear(rough_gauge, "--action", "hisq", "--phases-in-links", phases)
    extents = reference.extents_of(plain[0])
    eta = reference.staggered_phases(extents, phases)[..., None, None]
    for steps, without, with_phases in zip((1, 3), plain, signed):
        expected = eta * without
        expected[-steps:, ..., 3, :, :] *= -1  # antiperiodic in t
        assert with_phases.tobytes() == expected.tobytes() or np.array_equal(with_phases, expected)


@pytest.mark.reference
def test_hisq_operator_has_the_published_norms(smear, reference_data):
    from reference_configurations import formula_vector

    fat, naik = smear(reference_data / "lat.sample.l8888", "--action", "hisq", "--phases-in-links", "milc")
    b = formula_vector((8, 8, 8, 8))
    image = np.zeros_like(b)
    for steps, links in ((1, fat), (3, naik)):
        for mu in range(4):
            ahead = np.einsum("...ij,...j->...i", links[..., mu, :, :], np.roll(b, -steps, axis=3 - mu))
            behind = np.roll(np.einsum("...ji,...j->...i", links[..., mu, :, :].conj(), b), steps, axis=3 - mu)
            image += ahead - behind
    even = reference.parity((8, 8, 8, 8)) == 0
    assert (np.abs(image[even]) ** 2).sum() == pytest.approx(63918.028941503, rel=1e-12)
    assert (np.abs(image[~even]) ** 2).sum() == pytest.approx(63670.325637041, rel=1e-12)


@pytest.mark.parametrize("options, said", [
    (["--action", "naive"], "asqtad or hisq"),
    (["--action", "asqtad", "--naik-epsilon", 0.1], "--naik-epsilon belongs to --action hisq"),
    (["--action", "hisq", "--u0", 0.9], "--u0 belongs to --action asqtad"),
    (["--action", "asqtad", "--u0", 0], "a number above 0"),
    (["--action", "hisq", "--naik-epsilon", "nan"], "a finite number"),
    (["--action", "hisq", "--unitarize", "su2"], "u3 or su3"),
    (["--action", "hisq", "--format", "nersc"], "scidac or hdf5"),
    (["--action", "hisq", "--phases-in-links", "yes"], "none, cps or milc"),
    (["--action", "hisq", "--phases-in-links", "milc", "--boundary", "0.3,periodic,periodic,antiperiodic"], "periodic or antiperiodic"),
], ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "")
def test_smear_refuses_by_name(staghorn, small_gauge, tmp_path, options, said):
    result = staghorn("smear", "--gauge", small_gauge, *options, "--fat", tmp_path / "f.h5", "--long", tmp_path / "l.h5")
    assert result.returncode in (1, 2) and said in result.stderr, result.stderr
    assert not list(tmp_path.iterdir())
