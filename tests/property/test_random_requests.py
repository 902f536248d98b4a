"""Requests at random through the C interface: sources, guesses, links, masses and limits of any size. No certificate is untrue, judged by NumPy."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from staghorn import reference
from staghorn.improved_reference import ImprovedOperator, naik_products
from staghorn.reference import StaggeredOperator

sh = pytest.importorskip("staghorn.context", reason="the compiled Python module is not built")

# By hand: more of them, from other seeds side by side.
CASES, SEED = int(os.environ.get("STAGHORN_RANDOM_SOLVES", "300")), int(os.environ.get("STAGHORN_RANDOM_SEED", "3"))
CASES_OF_LINKS = 50  # with one gauge
SYSTEMS = ("full", "even", "odd")


def choose(rng, *choices):
    return choices[rng.integers(len(choices))]


class Links:
    """A gauge, its NumPy operator, and the largest factor of D."""

    def __init__(self, rng):
        improved = rng.random() < 0.2
        extents = (4, 4, 4, 4) if improved else choose(rng, (2, 2, 4, 2), (2, 2, 2, 2), (4, 2, 2, 4))
        thin = reference.random_links(extents, seed=int(rng.integers(2**31)))
        theta = choose(rng, (0, 0, 0, 1), (0, 0, 0, 0), (0.3, 0, -0.7, 1))
        numbers = {"precision": choose(rng, "fp64", "fp64", "fp32"), "boundary": theta}
        if numbers["precision"] == "fp64":
            numbers["sloppy"] = choose(rng, "none", "fp32", "fp16")
        context = sh.Context(extents, device="cpu")
        if improved:
            size = 2.0 ** rng.integers(-30, 31)
            fat, naik = size * thin, -size / 24 * naik_products(thin)
            self.gauge, self.operator = context.gauge(fat, naik=naik, **numbers), ImprovedOperator(fat, naik, theta)
        else:
            size = 1.0
            numbers["links"] = choose(rng, 18, 12, 8)
            self.gauge, self.operator = context.gauge(thin, **numbers), StaggeredOperator(thin, theta)
        self.extents, self.size, self.numbers = extents, size, numbers


def vector(rng, extents, system):
    """From one site to all of them; on a parity where the system is on one."""
    v = reference.random_vector(extents, int(rng.integers(2**31)))
    v *= rng.random(v.shape) < 10.0 ** rng.uniform(-2, 0.2)
    return v if system == "full" else reference.keep_parity(v, SYSTEMS.index(system) - 1)


def scaled(rng, v, dtype):
    """Times a power of two at random, rounded as `dtype` holds it: from what underflows to what nearly overflows."""
    power = int(rng.integers(-1080, 1020) if dtype == np.complex128 else rng.integers(-155, 126))
    parts = np.ldexp(np.ascontiguousarray(v).view(float), power)
    with np.errstate(over="ignore", under="ignore"):
        return parts.astype(np.float32 if dtype == np.complex64 else float).view(dtype)


def norm(v):
    return float(np.sqrt(np.sum(np.abs(v) ** 2, dtype=np.longdouble)) if v.size else 0)


class Judge:
    """Relative residuals of one request, in extended precision, and what rounding in fp64 may add to a certificate."""

    def __init__(self, links, system, sign, halved):
        self.links, self.system, self.sign, self.halved = links, system, sign, halved

    def on_system(self, v):
        return v if self.system == "full" else reference.keep_parity(v, SYSTEMS.index(self.system) - 1)

    def image(self, mass, x, shift):
        d, half = self.links.operator.d, np.longdouble(0.5 if self.halved else 1)
        if self.system == "full":
            return 2 * half * np.longdouble(mass) * x + self.sign * half * d(x)
        return half**2 * (4 * np.longdouble(mass) ** 2 * x - d(d(x))) + np.longdouble(shift) * x

    def residual(self, mass, x, b, shift=0.0):
        # Vectors of the host in fp32 are rounded after they are certified.
        digits = 2.0**-23 if x.dtype == np.complex64 else 1e-15
        x, b = x.astype(np.clongdouble), self.on_system(b.astype(np.clongdouble))
        length = np.sqrt(np.sum(np.abs(b) ** 2))
        left = np.sqrt(np.sum(np.abs(b - self.on_system(self.image(mass, x, shift))) ** 2)) / length
        largest = 2 * mass + 16 * self.links.size
        rounding = digits * (largest if self.system == "full" else largest**2 + shift) * np.sqrt(np.sum(np.abs(x) ** 2)) / length
        return float(left), float(rounding)


def wrong(case, rhs, left, rounding, tolerance, is_double):
    """What is untrue of a certificate, or ""."""
    if rhs.outcome == "certified" and not left <= tolerance * 1.001 + rounding:
        return f"case {case}: certified with {left:.3g} of {tolerance:.3g}"
    # What overflows is no number. Of a solution that fp32 does not hold the residual before is told.
    if (is_double or rhs.outcome == "certified") and np.isfinite(left) and np.isfinite(rhs.residual_true) and not abs(rhs.residual_true - left) <= 1e-2 * left + rounding:
        return f"case {case}: {rhs.outcome}, told {rhs.residual_true:.6g}, is {left:.6g}"
    return ""


def one_request(rng, links, case, outcomes):
    """What is wrong with it, as texts."""
    system = choose(rng, *SYSTEMS)
    dtype = choose(rng, np.complex128, np.complex128, np.complex64)
    b = scaled(rng, vector(rng, links.extents, system), dtype)
    size = links.size
    mass, tolerance = size * 2.0 ** rng.uniform(-6, 4), 10.0 ** rng.uniform(-14 if dtype == np.complex128 else -8, -1)
    options = {"system": system, "tolerance": tolerance, "max_iterations": int(10 ** rng.uniform(0, 3)),
               **({"solver": "block"} if rng.random() < 0.1 else {})}
    kind = choose(rng, "one", "one", "guess", "convention", "masses", "shifts")
    if not b.any():
        kind = "one"
    sign, halved = (choose(rng, 1, -1), choose(rng, True, False)) if kind == "convention" else (1, False)
    judge = Judge(links, system, sign, halved)
    systems, shift = [mass], [0.0]
    gauge = links.gauge
    try:
        if kind == "masses":
            systems, shift = [mass, *mass * 2.0 ** rng.uniform(0, 4, 2)], [0.0] * 3
            x, report = gauge.solve(None, b, masses=systems, **options)
        elif kind == "shifts":
            shift = [0.0, *(size**2 * 2.0 ** rng.uniform(-8, 4, 2))]
            options.pop("solver", None)
            x, report = gauge.multishift(shift, b, mass=mass, **options)
            systems = [mass] * 3 if system != "full" else [np.sqrt(mass**2 + one / 4) for one in shift]
            shift = shift if system != "full" else [0.0] * 3
        elif kind == "guess":
            x = choose(rng, lambda: scaled(rng, vector(rng, links.extents, system), dtype), lambda: b.copy(), lambda: 0 * b,
                       lambda: gauge.solve(mass, b, system=system, tolerance=min(0.1, 10 * tolerance))[0])()
            x, report = gauge.solve(mass, b, guess=x, **options)
            x = x[None]
        else:
            x, report = gauge.solve(mass, b, sign=sign, halved=halved, **options)
            x = x[None]
    except sh.Error as error:
        outcomes[error.kind] += 1
        return [] if error.kind in ("argument", "value") else [f"case {case}: {error}"]
    found = []
    for of_mass, of_shift, of_x, rhs in zip(systems, shift, x, report.rhs):
        outcomes[rhs.outcome] += 1
        if not b.any():
            found += [f"case {case}: a source of zeros has another solution"] if of_x.any() and rhs.outcome == "certified" else []
            continue
        left, rounding = judge.residual(of_mass, of_x, b, of_shift)
        said = wrong(case, rhs, left, rounding, tolerance, dtype == np.complex128)
        found += [f"{said} {kind} {options} {links.numbers} {dtype.__name__} mass {of_mass} |b| 2^{np.log2(norm(b)):.1f}"] if said else []
    return found


def test_no_random_request_is_certified_wrongly():
    rng, outcomes, found, links = np.random.default_rng(SEED), Counter(), [], None
    for case in range(CASES):
        if case % CASES_OF_LINKS == 0:
            links = Links(rng)
        with np.errstate(all="ignore"):  # guesses that overflow, too
            found += one_request(rng, links, case, outcomes)
    print(dict(outcomes))
    assert not found, f"{len(found)} of {CASES}: {found[:10]}"
    assert {"certified", "out_of_iterations"} <= outcomes.keys()
