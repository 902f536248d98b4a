"""Dot products, Gram matrices and linear combinations of vectors: exact sums against rational arithmetic, and the same bits on
every process grid, number of threads, instruction set and device."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import prod, sqrt

import pytest

CANNOT_RUN = 77
PRECISIONS = ("fp64", "fp32", "fp16")
EPSILON = {"fp64": 2.0**-53, "fp32": 2.0**-24, "fp16": 2.0**-16}
UNIT = 2**160  # numbers of the vectors, exponents down to 2^-75 with 53 bits, are integers in units of 1 / UNIT


@pytest.fixture
def products(run_built):
    """products(lattice, precision, n, m, grid, kernels, threads, values) -> {name: {(i, j): values}} of what was printed."""

    def run(lattice, precision, n, m, grid=(1, 1, 1, 1), kernels="auto", threads=1, values=False):
        result = run_built("vector_products", *lattice, *grid, precision, kernels, n, m, *(["values"] if values else []),
                           ranks=prod(grid), threads=threads)
        if result.returncode == CANNOT_RUN or "instruction set" in result.stdout:
            pytest.skip(f"no {kernels} on this machine")
        assert result.returncode == 0, result.stdout + result.stderr
        found = defaultdict(lambda: defaultdict(list))
        for line in result.stdout.splitlines():
            name, i, j, *numbers = line.split()
            found[name][int(i), int(j)].append(tuple(numbers))
        return found

    return run


def as_complex(entry):
    (re, im), = entry
    return complex(float.fromhex(re), float.fromhex(im))


def vectors(printed):
    """[column] -> list of (re, im) as integers in units of 1 / UNIT, site by site."""
    columns = defaultdict(list)
    for (column, _), numbers in printed.items():
        for re, im in numbers:
            exact = [Fraction(float.fromhex(text)) * UNIT for text in (re, im)]
            assert all(number.denominator == 1 for number in exact)
            columns[column].append(tuple(int(number) for number in exact))
    return [columns[column] for column in sorted(columns)]


def exact_product(a, b):
    re = sum(x[0] * y[0] + x[1] * y[1] for x, y in zip(a, b, strict=True))
    im = sum(x[0] * y[1] - x[1] * y[0] for x, y in zip(a, b, strict=True))
    return Fraction(re, UNIT**2), Fraction(im, UNIT**2)


def norm(a):
    return sqrt(exact_product(a, a)[0])


def distance(found, exact):
    return sqrt((Fraction(found.real) - exact[0]) ** 2 + (Fraction(found.imag) - exact[1]) ** 2)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_dot_products_are_the_exact_ones_to_double_precision(products, precision):
    """For every precision of the vectors: products of fp32 and fp16 are computed in double too."""
    found = products((4, 6, 8, 10), precision, 3, 3, values=True)
    a, b = vectors(found["a"]), vectors(found["b"])
    assert len(a) == len(b) == 3 and len(a[0]) == 4 * 6 * 8 * 10 // 2 * 3
    for name, left, right in (("gram", a, b), ("hermitian", a, a)):
        for i in range(3):
            for j in range(3):
                error = distance(as_complex(found[name][i, j]), exact_product(left[i], right[j]))
                assert error <= 4 * 2.0**-53 * norm(left[i]) * norm(right[j]), (name, i, j)
    for i in range(3):
        assert found["dot"][i, i] == found["gram"][i, i]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_combinations_are_the_exact_ones_within_rounding(products, precision):
    found = products((4, 2, 4, 6), precision, 5, 2, values=True)
    a, before, after = vectors(found["a"]), vectors(found["b"]), vectors(found["combined"])
    c = {pair: as_complex(entry) for pair, entry in found["coefficient"].items()}
    for j in range(2):
        for k, (re, im) in enumerate(after[j]):
            y = complex(before[j][k][0] / UNIT, before[j][k][1] / UNIT)
            terms = [c[i, j] * complex(a[i][k][0] / UNIT, a[i][k][1] / UNIT) for i in range(5)]
            site = 3 * (k // 3)  # fp16 rounds to the largest number of a site
            largest = max(abs(complex(*after[j][site + color])) / UNIT for color in range(3)) if precision == "fp16" else 0
            scale = abs(y) + sum(map(abs, terms)) + largest
            assert abs(complex(re / UNIT, im / UNIT) - y - sum(terms)) <= 8 * EPSILON[precision] * scale, (j, k)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_hermitian_gram_matrix_is_hermitian_and_positive(products, precision):
    numpy = pytest.importorskip("numpy")
    found = products((4, 4, 4, 8), precision, 16, 1)["hermitian"]
    gram = numpy.array([[as_complex(found[i, j]) for j in range(16)] for i in range(16)])
    assert (gram == gram.conj().T).all() and (gram.diagonal().imag == 0).all()
    lengths = numpy.sqrt(gram.diagonal().real)
    assert numpy.linalg.eigvalsh(gram / numpy.outer(lengths, lengths)).min() > 0.1  # 16 of 768 dimensions, at random


GRIDS = [(1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 2, 1), (1, 2, 2, 2)]


@pytest.mark.mpi
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bits_do_not_depend_on_ranks_and_threads(products, precision):
    """4x8x8x8 cut in all ways: with virtual nodes on some grids, without on others."""
    expected = products((4, 8, 8, 8), precision, 3, 3)
    assert {"gram", "hermitian", "dot", "combination"} <= expected.keys()
    assert products((4, 8, 8, 8), precision, 3, 3, threads=2) == expected
    for grid in GRIDS:
        assert products((4, 8, 8, 8), precision, 3, 3, grid=grid) == expected, grid


@pytest.mark.parametrize("kernels", ["baseline", "avx2", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n, m", [(5, 5), (16, 9), (23, 17), (32, 32)])
def test_bits_do_not_depend_on_the_kernels(products, precision, kernels, n, m):
    """One block of 16 x 8 pairs, on the diagonal, beside it and away from it, full and not."""
    assert products((4, 6, 8, 4), precision, n, m, kernels=kernels) == products((4, 6, 8, 4), precision, n, m)


@pytest.mark.parametrize("kernels", ["auto", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_products_of_many_columns_with_one(products, precision, kernels):
    """More than a Gram matrix may have, and no multiple of what a kernel takes at once: the bits of fewer, and of squares."""
    many = products((4, 6, 8, 4), precision, 39, 1, kernels=kernels)["gram"]
    few = products((4, 6, 8, 4), precision, 5, 1)["gram"]
    square = products((4, 6, 8, 4), precision, 5, 5)["gram"]
    assert len(many) == 39 and len(set(map(str, many.values()))) == 39
    assert all(many[i, 0] == few[i, 0] == square[i, 0] for i in range(5))
    if kernels == "cuda":
        assert many == products((4, 6, 8, 4), precision, 39, 1)["gram"]
