"""Many masses at once, and rational functions, on real configurations."""

from __future__ import annotations

import json

import numpy as np
import pytest
from staghorn import reference

pytest.importorskip("staghorn._native", reason="the compiled Python module is not built")
from staghorn import session as staghorn  # noqa: E402

pytestmark = pytest.mark.reference

POINT = {"color": 0, "system": "even"}


def entries(reference_data):
    """(links, entry of reference.json) of every set of shifts."""
    listed = json.loads((reference_data / "reference.json").read_text())
    for file in listed["files"]:
        for action, results in file.get("cg", {}).items():
            if "multishift_even_point" in results:
                yield {"gauge": reference_data / file["file"], "action": action}, results["multishift_even_point"]
    stored = listed["improved_fat_long_l8"]["multishift_even_point"]
    yield {"gauge": None, "fat": reference_data / "fat.l8", "long": reference_data / "long.l8"}, stored


def test_shifts_have_the_norms_and_the_iterations_of_the_reference(reference_data):
    seen = 0
    for links, expected in entries(reference_data):
        session = staghorn.Session(links.pop("gauge"), **links)
        masses = [float(np.sqrt(shift)) / 2 for shift in expected["shifts_m_KL_squared"]]
        _, report = session.solve(None, "point:0,0,0,0", masses=masses, **POINT)
        assert report["outcome"] == "certified"
        assert abs(report["multi_shift"]["iterations"] - expected["iterations_base_1e_10"]) <= 3
        _, precise = session.solve(None, "point:0,0,0,0", masses=masses, tolerance=1e-12, **POINT)
        assert [rhs["norm2"] for rhs in precise["rhs"]] == pytest.approx(expected["norm2"], rel=1e-8)
        seen += 1
    assert seen >= 6


def hop_matrix(links) -> np.ndarray:
    """D_eo as a dense matrix: rows are numbers on even sites, columns numbers on odd ones."""
    operator = reference.StaggeredOperator(links)
    sites = reference.parity(operator.extents)
    number = np.empty(sites.shape, dtype=int)
    for which in (0, 1):
        number[sites == which] = np.arange((sites == which).sum())
    n = number.max() + 1
    d = np.zeros((n, 3, n, 3), dtype=complex)
    even = sites == 0
    for mu in range(4):
        ahead, behind = reference.shifted(number, mu, +1), reference.shifted(number, mu, -1)
        u = operator.links[..., mu, :, :]
        u_behind = reference.shifted(u, mu, -1).conj().swapaxes(-1, -2)
        np.add.at(d.swapaxes(1, 2), (number[even], ahead[even]), u[even])
        np.add.at(d.swapaxes(1, 2), (number[even], behind[even]), -u_behind[even])
    return d.reshape(3 * n, 3 * n)


def test_rational_functions_agree_with_an_eigendecomposition(reference_data, tmp_path):
    """f(K) b for K = -D^2 on even sites of GF_555_6.1, where K is a matrix of 1944 x 1944."""
    session = staghorn.Session(reference_data / "GF_555_6.1")
    file = tmp_path / "rational.txt"
    poles = [1e-4, 1e-3, 0.02, 0.3, 7.0]
    residues = [3e-3, -0.02, 0.1, 0.5, -2.0]
    file.write_text("# a function\norder_GR 5\n" + "".join(f"res_GR {r!r}\n" for r in [1.25, *residues]) + "naik_term_epsilon 0\n"
                    + "".join(f"pole_GR {p!r}\n" for p in [99.9, *poles]))
    d = hop_matrix(session.links)
    eigenvalues, vectors = np.linalg.eigh(d @ d.conj().T)
    f = 1.25 + sum(r / (eigenvalues + p) for r, p in zip(residues, poles))

    b = reference.random_vector(session.lattice, 5)
    even = reference.parity(session.lattice) == 0
    exact = vectors @ (f * (vectors.conj().T @ b[even].ravel()))
    y, report = session.solve(None, b, rational=f"{file}:GR", system="even", tolerance=1e-12)
    assert report["outcome"] == "certified" and report["rational"]["poles"] == poles and not y[~even].any()
    assert np.linalg.norm(y[even].ravel() - exact) <= 2e-9 * np.linalg.norm(exact)

    parts, _ = session.solve(None, b, rational=f"{file}", rational_parts=True, system="even", tolerance=1e-12)
    whole = 1.25 * b * even[..., None] + sum(r * part for r, part in zip(residues, parts))
    assert np.linalg.norm(whole - y) <= 1e-13 * np.linalg.norm(y)
