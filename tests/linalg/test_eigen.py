"""Eigenvalue engines: each on every kind of spectrum, from every kind of start."""

import tracemalloc
from functools import cached_property
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from condal.linalg.eigen import Automatic, Dense, Lanczos
from condal.linalg.symmetric import Symmetric
from laws.spectra import ENGINES, SPECTRA, Counted, spectrum, torus
from spaces import random_symmetric

KINDS = ["random", *SPECTRA]
engines = pytest.mark.parametrize("engine", ENGINES, ids=repr)
kinds = pytest.mark.parametrize("kind", KINDS)


def rounding(case):
    return 1e-14 * (10 + len(case.full)) * case.size


def check(engine, case, pair, tol):
    """A unit vector, its own Rayleigh quotient, and that within tol of the smallest eigenvalue."""
    smallest = case.values[0]
    assert pair.vector.shape == (len(case.full),), case.name
    assert np.linalg.norm(pair.vector) == pytest.approx(1.0, abs=1e-13), case.name
    quotient = float(pair.vector @ case.full @ pair.vector)
    assert pair.value == pytest.approx(quotient, abs=100 * rounding(case)), case.name
    assert pair.value >= smallest - rounding(case), case.name
    # A cluster narrower than the square root of rounding is one eigenvalue to a Krylov space.
    width = 0.0 if isinstance(engine, Dense) else 1e-7 * case.size * ("clustered" in case.name)
    assert pair.value <= smallest + tol + width + 100 * rounding(case), case.name


@engines
@kinds
def test_the_smallest_eigenpair(engine, kind):
    for n, diagonal in product([1, 2, 3, 60, 300], [False, True]):
        case = spectrum(kind, n, diagonal)
        check(engine, case, engine.smallest(case.V), 0.0)


STARTS = {
    "wrong": lambda u: u[:, -1].copy(),
    "nearly wrong": lambda u: u[:, -1] + 1e-12 * u[:, 0],
    "middle": lambda u: 1e100 * u[:, len(u) // 2],
    "right": lambda u: u[:, 0].copy(),
    "zero": lambda u: np.zeros(len(u)),
    "nan": lambda u: np.full(len(u), np.nan),
    "inf": lambda u: np.full(len(u), np.inf),
    "tiny": lambda u: np.full(len(u), 1e-100),
    "strided": lambda u: u[:, len(u) // 3],
}


@engines
@pytest.mark.parametrize("start", STARTS)
def test_any_guess_will_do(engine, start):
    for kind, n in product(KINDS, [1, 2, 3, 60]):
        case = spectrum(kind, n)
        guess = STARTS[start](case.vectors)
        before = guess.copy()
        check(engine, case, engine.smallest(case.V, 0.0, guess), 0.0)
        np.testing.assert_array_equal(guess, before)


ISOLATED = ["multiple", "singular", "one negative", "identity", "zero", "shifted"]


@engines
@pytest.mark.parametrize("kind", ISOLATED)
def test_a_tolerance_is_kept(engine, kind):
    for n, part in product([3, 60, 300], [1e-2, 1e-4, 1e-8]):
        case = spectrum(kind, n)
        tol = part * case.size
        check(engine, case, engine.smallest(case.V, tol), tol)


@engines
@pytest.mark.parametrize("part", [1e-2, 1e-4])
def test_a_tolerance_is_nearly_always_kept_where_the_spectrum_is_crowded(engine, part):
    """It is sought and not promised: the next eigenvalue may pass for the smallest."""
    errors = []
    for seed in range(40):
        full = random_symmetric(60, np.random.default_rng(seed))
        values = np.linalg.eigvalsh(full)
        tol = part * (values[-1] - values[0])
        errors.append((engine.smallest(Symmetric(60, dense=full), tol).value - values[0]) / tol)
    assert sum(error <= 1.0 for error in errors) >= 36
    assert max(errors) <= 100


@engines
def test_the_residual_is_what_it_says(engine):
    for kind, n in product(KINDS, [3, 60]):
        case = spectrum(kind, n)
        pair = engine.smallest(case.V, 1e-3 * case.size)
        true = np.linalg.norm(case.full @ pair.vector - pair.value * pair.vector)
        assert true <= 1.1 * pair.residual + 1e-7 * case.size, case.name
        assert pair.error >= 0.0, case.name


@engines
def test_the_same_question_has_the_same_answer_to_the_bit(engine):
    for kind, n in product(KINDS, [1, 3, 60]):
        case = spectrum(kind, n)
        for tol, guess in product([0.0, 1e-3], [None, case.vectors[:, -1].copy()]):
            first, second = (engine.smallest(case.V, tol, guess) for _ in range(2))
            assert first.value == second.value, case.name
            np.testing.assert_array_equal(first.vector, second.vector, case.name)


@engines
def test_every_form_of_a_matrix_gives_the_same_value(engine):
    S = torus(8)
    diagonal = np.linspace(0.0, 1.0, 64)
    forms = [
        Symmetric(64, sparse=(S,), diagonal=diagonal),
        Symmetric(64, dense=S.toarray(), pairs=((np.ones(64), 0.0 * diagonal),), diagonal=diagonal),
        Symmetric(64, operators=(Counted(S.toarray() + np.diag(diagonal)),)),
    ]
    smallest = np.linalg.eigvalsh(S.toarray() + np.diag(diagonal))[0]
    for V in forms:
        assert engine.smallest(V).value == pytest.approx(smallest, abs=1e-12)


@engines
@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e12, 1e100])
def test_any_scale(engine, scale):
    case = spectrum("spread", 60)
    pair = engine.smallest(Symmetric(60, dense=scale * case.full))
    assert pair.value == pytest.approx(scale * case.values[0], rel=1e-11)


# Faults.


class Broken(LinearOperator):
    """Products that go wrong after some of them went right."""

    def __init__(self, n, wrong, after=0):
        super().__init__(np.float64, (n, n))
        self.wrong, self.left = wrong, after

    def _matvec(self, v):
        return self._matmat(np.reshape(v, (-1, 1)))

    def _matmat(self, v):
        self.left -= 1
        if self.left >= 0:
            return np.arange(1.0, len(v) + 1)[:, None] * v
        if isinstance(self.wrong, Exception):
            raise self.wrong
        out = np.array(v)
        out[0] = self.wrong
        return out


# inf - inf is met before a product is looked at, and NumPy warns of it.
meets_nan = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
INFINITIES = [pytest.param(wrong, marks=meets_nan) for wrong in (np.inf, -np.inf)]


@engines
@pytest.mark.parametrize("n", [1, 2, 3, 60])
@pytest.mark.parametrize("wrong", [np.nan, *INFINITIES])
def test_products_that_are_not_finite_are_an_error(engine, n, wrong):
    with pytest.raises(
        FloatingPointError, match="a product with the gradient gave NaN or infinity"
    ):
        engine.smallest(Symmetric(n, operators=(Broken(n, wrong),)))


@pytest.mark.parametrize("engine", [Lanczos(), Lanczos(max_bytes=1), Automatic()], ids=repr)
def test_nan_after_a_while_is_an_error(engine):
    with pytest.raises(
        FloatingPointError, match="a product with the gradient gave NaN or infinity"
    ):
        engine.smallest(Symmetric(60, operators=(Broken(60, np.nan, after=9),)))


@engines
@pytest.mark.parametrize("after", [0, 4])
def test_an_error_in_a_product_is_passed_on(engine, after):
    V = Symmetric(60, operators=(Broken(60, ZeroDivisionError("of the user"), after),))
    if isinstance(engine, Dense) and after:
        return  # one block of products is all that it asks for
    with pytest.raises(ZeroDivisionError, match="of the user"):
        engine.smallest(V)


# Lanczos.


@pytest.mark.parametrize("kind", ["random", "spread", "clustered", "nearly singular", "shifted"])
@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("columns", [2, 3, 7, 33])
def test_two_passes_give_the_vector_of_one(kind, n, columns):
    case = spectrum(kind, n)
    for tol in (0.0, 1e-3 * case.size):
        one = Lanczos().smallest(case.V, tol)
        two = Lanczos(max_bytes=8 * n * columns).smallest(case.V, tol)
        assert two.value == one.value
        np.testing.assert_allclose(two.vector, one.vector, atol=1e-13)


def test_products_of_one_and_of_two_passes():
    full = spectrum("spread", 300).full
    one, two = Counted(full), Counted(full)
    Lanczos().smallest(Symmetric(300, operators=(one,)), 1e-6)
    Lanczos(max_bytes=8 * 300 * 10).smallest(Symmetric(300, operators=(two,)), 1e-6)
    assert 20 < one.products < 300
    assert two.products == 2 * one.products - 10  # the ten that were kept are not made again


@pytest.mark.parametrize("steps", [1, 2, 5, 17])
def test_the_number_of_steps_is_capped(steps):
    case = spectrum("spread", 300)
    operator = Counted(case.full)
    pair = Lanczos(max_steps=steps).smallest(Symmetric(300, operators=(operator,)))
    assert operator.products == steps
    assert np.linalg.norm(pair.vector) == pytest.approx(1.0, abs=1e-13)
    assert case.values[0] <= pair.value <= case.values[-1]


@pytest.mark.parametrize("distinct", [[1.0], [0.0], [-1.0, 2.0], [-1.0, 0.5, 2.0]], ids=str)
@pytest.mark.parametrize("n", [3, 60, 300])
def test_it_stops_where_the_krylov_space_ends(distinct, n):
    operator = Counted(np.diag(np.resize(distinct, n)))
    pair = Lanczos().smallest(Symmetric(n, operators=(operator,)))
    assert operator.products <= len(distinct) + 1
    assert pair.value == pytest.approx(min(distinct), abs=1e-13)


def test_a_looser_tolerance_costs_fewer_products():
    products = []
    for tol in (1e-1, 1e-3, 1e-6, 1e-9):
        operator = Counted(spectrum("spread", 300).full)
        Lanczos().smallest(Symmetric(300, operators=(operator,)), tol)
        products.append(operator.products)
    assert products == sorted(products)
    assert products[0] < products[-1] / 2


def test_a_good_guess_costs_fewer_products():
    case = spectrum("one negative", 300)
    counts = []
    for guess in (None, case.vectors[:, 0].copy()):
        operator = Counted(case.full)
        Lanczos().smallest(Symmetric(300, operators=(operator,)), 1e-10, guess)
        counts.append(operator.products)
    assert counts[1] <= counts[0]


@engines
@pytest.mark.parametrize("far", [1e3, 1e8])
def test_lost_orthogonality_does_no_harm(engine, far):
    """Outliers converge first and come back as ghosts long before the small end is resolved."""
    values = np.concatenate([np.linspace(0.0, 1.0, 297), far * np.array([1.0, 2.0, 3.0])])
    pair = engine.smallest(Symmetric(300, diagonal=values))
    assert pair.value == pytest.approx(0.0, abs=1e-12 * far)


def test_the_basis_stays_within_its_memory():
    n = 4000
    V = Symmetric(n, sparse=(sp.csr_array(sp.diags(np.linspace(0.0, 1.0, n))),))
    Lanczos(max_bytes=8 * n * 10).smallest(V, 1e-6)  # so that the start vector is there
    tracemalloc.start()
    Lanczos(max_bytes=8 * n * 10).smallest(V, 1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 8 * n * (10 + 12)


# Automatic.


class Tall(Symmetric):
    @cached_property
    def asked(self):
        return []

    def to_dense(self):
        self.asked.append("dense")
        return super().to_dense()


@pytest.mark.parametrize(("part", "below"), [("diagonal", 48), ("dense", 128), ("lower", 128)])
def test_automatic_assembles_small_matrices_only(part, below):
    numbers = (np.arange(float(n)) for n in (below - 1, below))
    forms = ({part: d if part == "diagonal" else np.diag(d)} for d in numbers)
    small, large = (Tall(below - 1 + i, **form) for i, form in enumerate(forms))
    assert Automatic().smallest(small).value == pytest.approx(0.0, abs=1e-12)
    assert Automatic().smallest(large).value == pytest.approx(0.0, abs=1e-12)
    assert small.asked == ["dense"]
    assert large.asked == []
