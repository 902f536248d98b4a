"""Outputs through symbolic links: the file they lead to is written, even where it was not there; the link stays one."""

from __future__ import annotations

import json
import shutil

import pytest

SOLVE = "solve --gauge G --mass 0.5 --color 0"
# The command with its outputs, each of which is a link.
WRITERS = {
    "solve": (f"{SOLVE} --output x.h5 --report r.json", ["x.h5", "r.json"]),
    "scidac": (f"{SOLVE} --output x.scidac", ["x.scidac"]),
    "fnal": ("solve --gauge G --mass 0.5 --output x.fnal", ["x.fnal", "x.fnal.info"]),
    "many sources": (f"solve --gauge G --mass 0.5 --sources z2:1 --output x.h5 --report r.json", ["x.h5", "r.json"]),
    "with a checkpoint": (f"solve --gauge G --mass 0.5 --sources z2:1 --output x.h5 --checkpoint state.h5 --checkpoint-every 0 --resume --keep-checkpoint",
                          ["x.h5", "state.h5"]),
    "campaign": ("solve --gauge G --mass 0.5 --output x_{mass}.h5 --report c.json --results c.h5", ["x_0.5.h5", "c.json", "c.h5"]),
    "eigen": ("eigen --gauge G --pairs 4 --output e.h5 --report r.json --checkpoint state.h5 --checkpoint-every 0 --resume --keep-checkpoint",
              ["e.h5", "r.json", "state.h5"]),
    "generate": ("generate --lattice 4 4 4 4 --beta 6 --sweeps 1 --save-every 1 --save-as q_{n}.h5 --output q.h5", ["q.h5", "q_1.h5"]),
    "convert": ("convert G q.nersc", ["q.nersc"]),
    "smear": ("smear --gauge G --action asqtad --fat f.h5 --long l.h5", ["f.h5", "l.h5"]),
    "report": ("report r0.json -o r.html", ["r.html"]),
    "bench": ("bench hop --lattice 4x4x4x4 --json b.json", ["b.json"]),
}


@pytest.fixture
def folder(staghorn, small_gauge, tmp_path):
    shutil.copy(small_gauge, tmp_path / "G")
    staghorn(*SOLVE.split(), "--report", "r0.json", cwd=tmp_path, check=True)
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.mark.parametrize("writer", WRITERS)
def test_links_that_dangle_are_written_through(writer, staghorn, folder):
    words, names = WRITERS[writer]
    for name in names:
        (folder / name).symlink_to(f"scratch/{name}")
    for more in ([], ["--force"]):
        before = {name: (folder / "scratch" / name).stat().st_ino for name in names if more}
        staghorn(*words.split(), *more, cwd=folder, check=True)
        for name in names:
            target = folder / "scratch" / name
            assert (folder / name).is_symlink() and target.is_file() and target.stat().st_size > 0
            assert before.get(name) != target.stat().st_ino or writer in ("campaign", "with a checkpoint", "eigen")
    assert not [path for path in folder.rglob("*") if "partial" in path.name or "unfinished" in path.name or "lock" in path.name]


@pytest.mark.parametrize("where", ["nowhere/file", "LOOP", "scratch"], ids=["no folder", "loop", "a folder"])
@pytest.mark.parametrize("writer", WRITERS)
def test_links_that_lead_nowhere_are_refused_before_work(writer, where, staghorn, expect_error, folder):
    words, names = WRITERS[writer]
    for name in names:
        (folder / name).symlink_to(name if where == "LOOP" else where)
        before = set(folder.rglob("*"))
        result = staghorn(*words.split(), "--force", cwd=folder)
        found = {"nowhere/file": "in a folder that does not exist", "LOOP": "one that leads back to itself", "scratch": "a directory"}[where]
        expect_error(result, 1, name, found)
        assert "CERTIFICATE" not in result.stdout and set(folder.rglob("*")) == before and (folder / name).is_symlink()
        (folder / name).unlink()


def test_checkpoints_behind_a_link_are_kept_and_found(staghorn, folder):
    """The one before lies beside the file that the link leads to; both are of their own."""
    (folder / "state.h5").symlink_to("scratch/state.h5")
    job = ["solve", "--gauge", "G", "--mass", 0.05, "--source", "z2:1", "--checkpoint", "state.h5", "--checkpoint-every", 0, "--resume",
           "--keep-checkpoint"]
    staghorn(*job, cwd=folder, check=True)
    kept = folder / "scratch/state.h5.1"
    assert (folder / "state.h5").is_symlink() and kept.is_file() and not kept.is_symlink() and kept.stat().st_nlink == 1
    (folder / "scratch/state.h5").write_bytes(b"torn")
    staghorn(*job, "--report", "r.json", cwd=folder, check=True)
    assert json.loads((folder / "r.json").read_text())["checkpoint"]["resumed_from"].endswith("scratch/state.h5.1")
