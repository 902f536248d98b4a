"""Fat and long links in files: what `smear` writes and `inspect` finds, in SciDAC and HDF5, with phases and without."""

from __future__ import annotations

import json

import h5py
import numpy as np
import numpy_formats as formats
import pytest

FORMATS = ["hdf5", "scidac"]


@pytest.fixture(scope="module")
def smear(staghorn, rough_gauge, tmp_path_factory):
    """smear(*options, ranks=1) -> paths of the fat and the long links."""

    def run(*options, gauge=rough_gauge, ranks=1):
        folder = tmp_path_factory.mktemp("smeared")
        staghorn("smear", "--gauge", gauge, *options, "--fat", folder / "fat", "--long", folder / "long", ranks=ranks,
                 env={"SOURCE_DATE_EPOCH": "0"}, check=True)
        return folder / "fat", folder / "long"

    return run


def links_in(path, kind) -> np.ndarray:
    if kind == "scidac":
        return formats.read_lime(path.read_bytes(), "scidac")
    with h5py.File(path) as file:
        return file["links"][...].astype(complex)


@pytest.fixture(scope="module")
def inspected(staghorn):
    def run(path, ranks=1) -> dict:
        return json.loads(staghorn("inspect", path, "--json", ranks=ranks, check=True).stdout)["improved"]

    return run


@pytest.mark.mpi
@pytest.mark.parametrize("kind", FORMATS)
def test_files_have_the_same_bytes_on_any_grid(smear, kind):
    options = ["--action", "hisq", "--format", kind, "--phases-in-links", "milc", "--precision", "fp32"]
    whole = [path.read_bytes() for path in smear(*options)]
    for ranks in (2, 4, 8):
        assert [path.read_bytes() for path in smear(*options, ranks=ranks)] == whole


@pytest.mark.parametrize("action", ["asqtad", "hisq"])
@pytest.mark.parametrize("phases", ["none", "cps", "milc"])
def test_scidac_holds_what_hdf5_holds_and_says_so(smear, inspected, phases, action):
    options = ["--action", action, "--phases-in-links", phases]
    in_hdf5 = smear(*options)
    in_scidac = smear(*options, "--format", "scidac")
    for role, one, other in zip(("fat", "long"), in_hdf5, in_scidac):
        assert links_in(one, "hdf5").tobytes() == links_in(other, "scidac").tobytes()
        found = inspected(one)
        assert found == inspected(other)
        assert (found["holds"], found["phases"]) == (role, phases)
        assert found["boundary"] == "periodic,periodic,periodic," + ("periodic" if phases == "none" else "antiperiodic")
    assert found["naik_scale"] == pytest.approx(-1 / 24, rel=1e-15) and found["naik_unitarity"] < 1e-14


@pytest.mark.parametrize("boundary", ["antiperiodic,periodic,periodic,antiperiodic", "periodic,antiperiodic,periodic,periodic"])
@pytest.mark.parametrize("phases", ["cps", "milc"])
def test_boundary_signs_are_found_in_any_direction(smear, inspected, phases, boundary):
    for path in smear("--action", "hisq", "--phases-in-links", phases, "--boundary", boundary):
        found = inspected(path)
        assert (found["phases"], found["boundary"]) == (phases, boundary)


@pytest.mark.mpi
def test_what_is_found_does_not_depend_on_the_grid(smear, inspected):
    for path in smear("--action", "hisq", "--phases-in-links", "milc", "--precision", "fp32", "--naik-epsilon", -0.1):
        assert inspected(path, ranks=4) == inspected(path)


def test_random_links_tell_no_phases(smear, inspected, small_gauge):
    fat, naik = smear("--action", "hisq", "--phases-in-links", "milc", gauge=small_gauge)
    assert [inspected(path)["phases"] for path in (fat, naik)].count(None) >= 1


@pytest.mark.reference
def test_inspect_explains_milcs_links(inspected, reference_data):
    fat, naik = (inspected(reference_data / name) for name in ("fat.l8", "long.l8"))
    for found, role in ((fat, "fat"), (naik, "long")):
        assert found["holds"] == role
        assert (found["phases"], found["boundary"]) == ("milc", "periodic,periodic,periodic,antiperiodic")
    assert naik["naik_scale"] == pytest.approx(-1 / (24 * 0.502**2), rel=1e-7)
    assert 1e-9 < naik["naik_unitarity"] < 5e-7  # fp32


def test_thin_links_are_not_called_improved(staghorn, rough_gauge):
    assert json.loads(staghorn("inspect", rough_gauge, "--json", check=True).stdout)["improved"] is None
