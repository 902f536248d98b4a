"""Arrays of NumPy, JAX, PyTorch and CuPy: how tests make them, and how they look at them again."""

from __future__ import annotations

import os
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest


def array_library(name: str, gpu: bool) -> SimpleNamespace:
    """make(array) -> one of that library, on the GPU or the host; numbers(one) -> as NumPy has them; where(one) -> its place,
    which an array of the same call shares. Skips where the library is absent or sees no such place."""
    if name == "jax":
        os.environ["JAX_PLATFORMS"] = "cuda" if gpu else "cpu"
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        jax = pytest.importorskip("jax", reason="jax is not installed")
        jax.config.update("jax_enable_x64", True)
        try:
            device = jax.devices("cuda" if gpu else "cpu")[0]
        except RuntimeError as error:
            pytest.skip(f"jax: {error}")
        return SimpleNamespace(make=lambda a: jax.device_put(a, device).block_until_ready(), numbers=np.asarray,
                               where=lambda a: a.devices(), changes=False)
    if name == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        if gpu and not torch.cuda.is_available():
            pytest.skip("torch sees no GPU")
        device = "cuda:0" if gpu else "cpu"
        return SimpleNamespace(make=lambda a: torch.from_numpy(np.ascontiguousarray(a)).to(device), numbers=lambda a: a.cpu().numpy(),
                               where=lambda a: a.device, changes=True)
    if name == "cupy":
        cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        return SimpleNamespace(make=cupy.asarray, numbers=cupy.asnumpy, where=lambda a: a.device, changes=True)
    return SimpleNamespace(make=np.array, numbers=np.asarray, where=lambda a: type(a), changes=True)


def check_library(library: SimpleNamespace, **where) -> None:
    """Links, hop, solve, several shifts and update with arrays of a library in Context(lattice, **where), against the bits of
    NumPy's arrays on the CPU."""
    import staghorn
    from staghorn import reference

    extents, mass = (4, 6, 2, 8), 0.5
    links, others = (reference.random_links(extents, seed) for seed in (71, 73))
    b = np.stack([reference.random_vector(extents, seed) for seed in (72, 74)])
    plain = staghorn.Context(extents).gauge(links)
    context = staghorn.Context(extents, **where)
    assert context.device == (f"cuda:{where['device']}" if "device" in where else "cpu")
    gauge = context.gauge(library.make(links))
    source = library.make(b)

    def check(found, expected) -> None:
        assert type(found) is type(source) and library.where(found) == library.where(source)
        assert library.numbers(found).dtype == expected.dtype and np.array_equal(library.numbers(found), expected)

    check(gauge.hop(source), plain.hop(b))
    check(gauge.hop(source, target="odd"), plain.hop(b, target="odd"))
    x, report = gauge.solve(mass, source)
    check(x, plain.solve(mass, b)[0])
    assert report.certified and len(report.rhs) == 2
    single, single_b = gauge.solve(mass, library.make(b.astype(np.complex64)), tolerance=1e-6)[0], b.astype(np.complex64)
    assert np.array_equal(library.numbers(single), plain.solve(mass, single_b, tolerance=1e-6)[0])
    shifted, _ = gauge.multishift([0.0, 0.3], library.make(b[0]), mass=mass)
    check(shifted, plain.multishift([0.0, 0.3], b[0], mass=mass)[0])
    if library.changes:
        out = library.make(np.zeros_like(b))
        assert gauge.solve(mass, source, out=out)[0] is out
        check(out, plain.solve(mass, b)[0])
    else:
        with pytest.raises(staghorn.Error, match="out: expected an array that can be changed"):
            gauge.hop(source, out=source)
    check(source, b)  # as it was
    gauge.update(library.make(others))
    plain.update(others)
    check(gauge.hop(source), plain.hop(b))
