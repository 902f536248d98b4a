"""A checkpoint of a GPU goes on on a GPU and on a CPU, and one of a CPU on a GPU: the bits of a solve in one piece, in every form
of the loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

# One kernel runs 128 iterations at a time, and two batches are queued: this takes more than a thousand.
GAUGE = Path(__file__).resolve().parents[2] / "configs" / "quenched_8x8x8x16_b5.70.nersc"
REQUESTS = {
    "fp64": ["--sloppy", "none", "--color", 0],
    "fp32": ["--precision", "fp32", "--tolerance", 1e-9, "--system", "even", "--source", "z2:3", "--noise-vectors", 2],
    "mixed-fp32": ["--color", 0, "--sloppy", "fp32"],
    "mixed-fp16": ["--color", 0, "--sloppy", "fp16", "--links", 12],
}
FORMS = {"two": "two kernels", "one": "one kernel", "wide": "wide kernel", "host": "host"}


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("form", FORMS)
def test_a_state_goes_on_on_another_device(staghorn, tmp_path, form, request_name):
    state = tmp_path / "state.h5"

    def solve(name, device, *more):
        on_gpu = device == "cuda"
        cut = ["--transport", "staged"] if on_gpu and form == "host" else []
        env = {"SOURCE_DATE_EPOCH": "1795199983", "STAGHORN_CG_KERNELS": form if on_gpu and form != "host" else "auto"}
        output, report = tmp_path / f"{name}.h5", tmp_path / f"{name}.json"
        staghorn("solve", "--gauge", GAUGE, "--mass", 0.02, *REQUESTS[request_name], "--device", device, *cut, "--output",
                 output, "--report", report, "--force", *more, check=True, env=env, ranks=2 if on_gpu and form == "host" else 1)
        report = json.loads(report.read_text())
        assert not on_gpu or report["loop"] == FORMS[form]
        return output.read_bytes(), report

    keep = ["--checkpoint", state, "--checkpoint-every", 0, "--keep-checkpoint"]
    plain, expected = solve("plain", "cpu")
    states = {}
    for device in ("cpu", "cuda"):
        for old in tmp_path.glob("state.h5*"):
            old.unlink()
        answer, report = solve("kept", device, *keep)
        assert answer == plain and report["rhs"] == expected["rhs"] and report["checkpoint"]["written"] >= 2
        states[device] = Path(f"{state}.1").read_bytes()
    for of, on in [("cuda", "cuda"), ("cuda", "cpu"), ("cpu", "cuda")]:
        state.write_bytes(states[of])
        answer, report = solve("resumed", on, *keep, "--resume")
        assert report["checkpoint"]["resumed_iterations"] >= 16
        assert answer == plain and report["rhs"] == expected["rhs"], (of, on)
