"""A Markov chain that is kept on its way, and that goes on from a file with the bits of one that never stopped."""

from __future__ import annotations

import h5py
import pytest

CHAIN = ["--beta", 5.7, "--overrelaxation", 1, "--seed", 3, "--device", "cpu"]


@pytest.fixture(scope="module")
def chain(staghorn, tmp_path_factory):
    """The folder of one chain: sweeps 2, 4 and 6 as q_0002.h5 and so on, and the last sweep, 7, as end.h5."""
    folder = tmp_path_factory.mktemp("chain")
    staghorn("generate", "--lattice", "4x4x4x6", *CHAIN, "--sweeps", 7, "--save-every", 2, "--save-as", "q_{n:04}.h5",
             "--output", "end.h5", cwd=folder, check=True)
    return folder


def links(path):
    with h5py.File(path) as file:
        return file["links"][()].tobytes()


def test_files_are_named_by_their_sweep(chain):
    assert sorted(path.name for path in chain.iterdir()) == ["end.h5", "q_0002.h5", "q_0004.h5", "q_0006.h5"]
    for path in chain.iterdir():
        with h5py.File(path) as file:
            assert int(file["links"].attrs["sweeps"]) == (7 if path.stem == "end" else int(path.stem[2:]))


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_chain_goes_on_with_the_bits_of_one_piece(staghorn, chain, tmp_path, ranks):
    out = staghorn("generate", "--start", chain / "q_0002.h5", *CHAIN, "--sweeps", 5, "--save-every", 4, "--save-as", "p{n}.h5",
                   "--output", "end.h5", cwd=tmp_path, ranks=ranks, check=True).stdout
    assert "sweep 2" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["end.h5", "p4.h5"]
    assert links(tmp_path / "p4.h5") == links(chain / "q_0004.h5")
    assert links(tmp_path / "end.h5") == links(chain / "end.h5") != links(chain / "q_0006.h5")


def test_sweeps_are_counted_in_nersc_files_and_rounded_links_are_made_unitary(staghorn, chain, tmp_path):
    staghorn("convert", chain / "q_0002.h5", tmp_path / "q.nersc", "--precision", "fp32", check=True)
    staghorn("generate", "--start", "q.nersc", *CHAIN, "--sweeps", 1, "--output", "next.nersc", cwd=tmp_path, check=True)
    header = (tmp_path / "next.nersc").read_bytes()
    assert b"SEQUENCE_NUMBER = 3\n" in header
    text = staghorn("inspect", tmp_path / "next.nersc", check=True).stdout
    assert float(text.split("|U U^dagger - 1| <= ")[1].split(",")[0]) < 1e-12


def test_what_cannot_go_on_is_refused_before_the_first_sweep(staghorn, chain, expect_error, tmp_path):
    many = ["--sweeps", 1000000, "--save-every", 500000, "--save-as"]
    (tmp_path / "q1000000.h5").write_text("precious")
    expect_error(staghorn("generate", "--lattice", "4x4x4x6", *CHAIN, *many, "q{n}.h5", cwd=tmp_path), 1, "q1000000.h5 exists", "--force")
    expect_error(staghorn("generate", "--start", chain / "end.h5", "--lattice", "4x4x4x4", *CHAIN, *many, "p{n}.h5", cwd=tmp_path), 1,
                 "4x4x4x4", "4x4x4x6")
    expect_error(staghorn("generate", "--start", "warm", *CHAIN, *many, "p{n}.h5", cwd=tmp_path), 1, "warm", "No such file")
    expect_error(staghorn("generate", "--start", chain / "end.h5", *CHAIN[:-1], "cuda", *many, "p{n}.h5", cwd=tmp_path), 1,
                 "--device", "starts from a file")
    assert [path.name for path in tmp_path.iterdir()] == ["q1000000.h5"]
