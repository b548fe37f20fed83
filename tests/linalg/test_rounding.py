"""What rounding does to objectives, and the certificates that allow for it, in exact arithmetic."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.certificates.bound import lower_bound
from condal.driver.guards import guarded
from condal.errors import PieceError, ProblemError
from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.rounding import UNIT_ROUNDOFF, Errors
from condal.linalg.symmetric import Symmetric
from condal.smooth import (
    FactoredQuadratic,
    Function,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    Poisson,
    Quadratic,
)
from laws.smooth import SMOOTH

DIGITS = 60
EVERY = {"slack": 1e-9, "failure": 1e-6, "seed": 0}


def exact(values):
    return [Fraction(float(t)) for t in np.ravel(values)]


def dot(a, b):
    return sum((s * t for s, t in zip(a, b, strict=True)), Fraction())


def precise(function, t):
    """A function of Decimal at a rational, to DIGITS digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(function(Decimal(t.numerator) / Decimal(t.denominator)))


def half_line(t, delta):
    return t * t / 2 if abs(t) <= delta else delta * (abs(t) - delta / 2)


def softplus(t):
    return (1 + (-abs(t)).exp()).ln() + max(t, Decimal(0))


def exact_terms(f, u):
    """phi(u) and its gradient, rational numbers, by the definition of each class."""
    w = Fraction(getattr(f, "weight", 1.0))
    if isinstance(f, Linear):
        return u[0], [Fraction(1)]
    if isinstance(f, Quadratic):
        Q = [exact(row) for row in f.Q @ np.eye(f.Q.n)]
        c, Qu = exact(f.c), [dot(row, u) for row in Q]
        value = dot(u, Qu) / 2 + dot(c, u)
        slopes = [a + b for a, b in zip(Qu, c, strict=True)]
    elif isinstance(f, FactoredQuadratic):
        r, last = (u, []) if f.c is None else (u[:-1], u[-1:])
        value, slopes = dot(r, r) / 2 + sum(last), [*r, *(Fraction(1) for _ in last)]
    elif isinstance(f, LeastSquares | Huber):
        r = [a - b for a, b in zip(u, exact(f.c), strict=True)]
        delta = Fraction(f.delta) if isinstance(f, Huber) else max(map(abs, r))
        value = sum(half_line(t, delta) for t in r)
        slopes = [min(max(t, -delta), delta) for t in r]
    elif isinstance(f, Logistic):
        signed = [-a * b for a, b in zip(exact(f.labels), u, strict=True)]
        value = sum(precise(softplus, t) for t in signed)
        parts = [precise(lambda t: 1 / (1 + (-t).exp()), t) for t in signed]
        slopes = [-a * b for a, b in zip(exact(f.labels), parts, strict=True)]
    elif isinstance(f, Poisson):
        value, slopes = Fraction(), []
        for t, k, b in zip(u, exact(f.counts), exact(f.background), strict=True):
            rate, below = max(t, Fraction()) + b, min(t, Fraction())
            value += rate - k - k * precise(Decimal.ln, rate)
            value += k * precise(Decimal.ln, k) if k else 0
            value += below * (1 - k / b + k / b**2 * below / 2)
            slopes.append(1 - k / rate + k / b**2 * below)
    else:
        raise NotImplementedError(type(f).__name__)
    return w * value, [w * t for t in slopes]


def misses(f, u):
    """The errors of value(u) and of gradient(u), the latter squared."""
    value, slopes = exact_terms(f, exact(u))
    off = [Fraction(float(t)) - s for t, s in zip(f.gradient(u), slopes, strict=True)]
    return abs(Fraction(f.value(u)) - value), dot(off, off)


def cancelling():
    """Objectives at points where their terms cancel."""
    rng = np.random.default_rng(0)
    for s in (1.0, 1e6, 1e12):
        v = np.array([1.0, -0.7, -1.3])
        Q = s * np.outer(v, v)
        x = np.array([0.7, 1.0, 0.0]) / 1.7
        for form in (Q, sp.csr_array(Q), Symmetric(3, pairs=((s * v, v),))):
            yield Quadratic(form, 1e-3 * rng.standard_normal(3), 0.3), x
        yield LeastSquares(np.eye(3), s * v, 0.3), s * v * (1 + 1e-15)
        yield Huber(np.eye(3), s * v, 1e-9 * s, 0.7), s * v * np.array([1, 1 + 1e-12, 2])
        yield FactoredQuadratic(np.eye(3), c=v, weight=0.3), np.array([s, s, -s, -1.5 * s * s])
        yield Logistic(np.eye(3), [1, -1, 1], 0.3), np.array([700.0, 1e-9, -30.0])
        k = np.array([1.0, 1e3, 1e6])
        rate = np.array([1 + 1e-9, 1.0 + 1e-12, s])
        yield Poisson(np.eye(3), k, 0.5, 0.3), rate - 0.5
        yield Poisson(np.eye(3), k, 0.5, 0.3), -rate
    for k in (3.0, 1e3, 1e6):  # the rate is the count, nearly
        yield Poisson([[1.0]], [k], 0.5), np.array([k * (1 + 1e-7) - 0.5])


def random_places():
    rng = np.random.default_rng(1)
    for case in SMOOTH:
        if isinstance(case.f, Function):
            continue
        if isinstance(case.f, Quadratic) and case.f.Q.operators:
            continue  # of which no exact product is known
        for x in case.space.points(rng)[:3]:
            yield case.f, case.f.M(x)


@pytest.mark.parametrize("places", [cancelling, random_places])
def test_errors_bound_those_of_value_and_gradient(places):
    seen = set()
    for f, u in places():
        errors, (value, gradient) = f.errors(u), misses(f, u)
        assert value <= Fraction(errors.value)
        assert gradient <= Fraction(errors.gradient) ** 2
        sharp = 1e-13 * (1 + abs(f.value(u)) + float(np.abs(f.gradient(u)) @ np.abs(u)))
        if places is random_places:  # and not by far
            assert errors.value <= 30 * sharp
        seen.add(type(f))
    assert len(seen) == 7 - (places is cancelling)


def test_what_is_lost_to_cancellation_is_no_small_part_of_what_is_left():
    """The rule of a few roundings of the value and of the gradient is broken, so that the law
    above can fail."""
    broken = set()
    for f, u in cancelling():
        value, gradient = misses(f, u)
        few = Fraction(16 * UNIT_ROUNDOFF)
        if value > few * abs(Fraction(f.value(u))):
            broken.add((type(f), "value"))
        if gradient > few**2 * dot(exact(f.gradient(u)), exact(f.gradient(u))):
            broken.add((type(f), "gradient"))
    assert {(Quadratic, "value"), (Quadratic, "gradient"), (Poisson, "value")} <= broken


def rational_quadratic(Q, c, x):
    rows = [exact(row) for row in Q]
    return dot(x, [dot(row, x) for row in rows]) / 2 + dot(exact(c), x)


def best_edge(Q, c):
    """The least value on the edges of the simplex, and where: rational numbers."""
    found = []
    rows, c = [exact(row) for row in Q], exact(c)
    for i in range(len(c)):
        for j in range(i):
            bend = rows[i][i] - 2 * rows[i][j] + rows[j][j]
            if bend > 0:
                t = (c[j] - c[i] - rows[i][j] + rows[j][j]) / bend
                x = [Fraction()] * len(c)
                x[i] = min(max(t, Fraction()), Fraction(1))
                x[j] = 1 - x[i]
                value = dot(x, [dot(row, x) for row in rows]) / 2 + dot(c, x)
                found.append((value, x))
    return min(found)


@pytest.mark.parametrize("s", [1.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_no_certificate_of_a_quadratic_is_above_a_feasible_value(s, form):
    """At the points near a minimum of rank 1, where u'(Qu/2 + c) cancels."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        v = np.array([1.0, -rng.uniform(0.5, 2), -rng.uniform(0.5, 2)])
        Q, c = s * np.outer(v, v), 1e-3 * rng.standard_normal(3)
        try:
            f = Quadratic(form(Q), c)
        except ProblemError:
            continue
        problem = condal.Problem.of(f, condal.Simplex(3))
        least, x = best_edge(Q, c)
        for _ in range(8):
            z = np.array([float(t) for t in x]) * (1 + rng.uniform(-2e-16, 2e-16, 3))
            bound = condal.certify(problem, z, np.zeros(0)).bound
            assert Fraction(bound) <= least
            assert bound >= float(least) - 1e-13 * (s + 1)


@pytest.mark.parametrize("k", [1.0, 1e3, 1e6])
def test_no_certificate_of_counts_is_above_a_feasible_value(k):
    """The loss nearly vanishes; the least is at rate = k, or at an end."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        count, b = float(np.round(k * rng.uniform(1, 3))), rng.uniform(0.1, 1)
        f = Poisson([[1.0]], [count], b)
        ends = (count - b) * (1 + rng.uniform(-1e-9, 1e-9, 2))
        X = condal.domains.Box([min(ends)], [max(ends)])
        z = np.array([rng.uniform(min(ends), max(ends))])
        bound = condal.certify(condal.Problem.of(f, X), z, np.zeros(0)).bound
        rate = min(max(Fraction(count), *exact([min(ends) + b])), *exact([max(ends) + b]))
        slack = Fraction(2.0**-50) * rate  # the ends, plus b, are rounded here
        k_logs = Fraction(count) * precise(Decimal.ln, rate / Fraction(count))
        assert Fraction(bound) <= rate - Fraction(count) - k_logs + slack * slack


def test_a_curvature_that_is_negative_by_rounding_is_paid_for():
    """Q has an eigenvalue of -1e-4: accepted beside one of 2e12, but (1, -1) is better than 0."""
    Q = 1e12 * np.ones((2, 2))
    Q[0, 0] -= 2e-4
    least = rational_quadratic(Q, [0, 0], exact([1, -1]))
    assert least < 0
    problem = condal.Problem.of(Quadratic(Q), condal.LinfBall(2))
    for z in ([0.0, 0.0], [1.0, -1.0], [0.3, -0.3], [1.0, 1.0]):
        bound = condal.certify(problem, np.array(z), np.zeros(0)).bound
        assert Fraction(bound) <= least
    assert condal.solve(problem, tol=1e-6, max_iters=50).bound <= float(least)


def test_a_convex_quadratic_pays_nothing_for_it():
    Q = np.array([[2.0, 1.0], [1.0, 2.0]])
    for form in (Q, sp.csr_array(Q), sp.diags(np.arange(1.0, 900.0)), np.diag(np.ones(500)) + 1):
        assert Quadratic(form).errors(np.ones(np.shape(form)[0])).concavity == 0.0
    singular = Quadratic(np.ones((500, 500)), weight=3.0).errors(np.ones(500))
    assert 0 < singular.concavity <= 1e-9
    assert singular.trusting == ""


def test_a_larger_quadratic_is_proved_psd_or_trusted_by_name(monkeypatch):
    n = 450
    F = np.random.default_rng(3).standard_normal((5, n))
    X, x = condal.Simplex(n), np.full(n, 1 / n)

    def certified(Q):
        return condal.certify(condal.Problem.of(Quadratic(Q), X), x, np.zeros(0))

    assert certified(F.T @ F).how == "closed form"
    hidden = certified(aslinearoperator(F.T @ F)).how
    assert hidden == "closed form, trusting that Q is psd and the products of its operator"
    small = condal.Problem.of(Quadratic(aslinearoperator(np.eye(3))), condal.Simplex(3))
    how = condal.certify(small, np.ones(3) / 3, np.zeros(0)).how
    assert how == "closed form, trusting the products of the operator Q"
    monkeypatch.setattr(proofs, "MAX_PSD_FLOPS", 1.0)
    assert certified(F.T @ F).how == "closed form, trusting that Q is psd"
    assert certified(np.eye(n)).how == "closed form"  # by its discs


def test_a_larger_quadratic_with_little_negative_curvature_is_refused():
    """60 products of Lanczos do not see it, a factorisation does."""
    diagonal = np.linspace(0.0, 1.0, 700) ** 2
    diagonal[0] = -2e-5
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((700, 700)))[0]
    Q = (turn * diagonal) @ turn.T
    text = r"Q must be psd for f to be convex; no factorisation of it completes, not with \d\S* "
    for form in (Q, sp.diags(diagonal)):
        with pytest.raises(ProblemError, match=text):
            Quadratic(form)


class Bowl:
    """A user's own |x - c|^2 / 2, with nothing said of its rounding."""

    L = 1.0

    def __init__(self, c, weight=1.0):
        self.c, self.weight = c, weight
        self.M = condal.Identity(c.size)

    def value(self, u):
        return 0.5 * self.weight * float((u - self.c) @ (u - self.c))

    def gradient(self, u):
        return self.weight * (u - self.c)

    def scaled(self, c):
        return type(self)(self.c, c * self.weight)

    def variation(self, max_norm):
        return self.weight * max_norm * (float(np.linalg.norm(self.c)) + max_norm)


class CarefulBowl(Bowl):
    """The same, which says what rounding does to it."""

    found = Errors(0.125, 0.0)

    def errors(self, u):
        return self.found


def test_a_users_objective_is_taken_at_its_word_or_says_more():
    c = np.array([0.3, 0.9, 0.1])
    x = np.array([0.2, 0.8, 0.0])
    word = "closed form, trusting the value and the gradient of f, and that it is convex"
    hows, bounds = [], []
    for f in (Bowl(c), Function(Bowl(c).value, Bowl(c).gradient, L=1.0, size=3), CarefulBowl(c)):
        problem = condal.Problem.of(f, condal.Simplex(3))
        for form in (problem, guarded(problem)):
            bound, proof = lower_bound(form, x, np.zeros(0), **EVERY)
            hows.append(proof.how)
            bounds.append(bound)
    assert hows == [word] * 4 + ["closed form"] * 2
    np.testing.assert_allclose(bounds, [bounds[0]] * 4 + [bounds[0] - 0.125] * 2, rtol=1e-14)
    assert word in condal.solve(condal.Problem.of(Bowl(c), condal.Simplex(3))).certificate.because


def test_errors_that_are_none_are_refused():
    class Careless(CarefulBowl):
        found = 0.1

    problem = condal.Problem.of(Careless(np.ones(3)), condal.Simplex(3))
    with pytest.raises(PieceError, match=r"condal\.linalg\.rounding\.Errors"):
        lower_bound(guarded(problem), np.ones(3), np.zeros(0), **EVERY)


def test_the_squares_of_rounded_roots_are_paid_for():
    """f(x) = d x^2 / 2 at x = 1: |sqrt(d)|^2 is not d."""
    for d in (3.0, 7.0, 1.1, 2.3):
        for c in (None, [-1.7]):
            f = FactoredQuadratic(np.zeros((1, 1)), [d], c)
            problem = condal.Problem.of(f, condal.domains.Box([1.0], [1.0 + 2**-52]))
            bound = condal.certify(problem, np.ones(1), np.zeros(0)).bound
            assert Fraction(bound) <= Fraction(d) / 2 - (Fraction(1.7) if c else 0)
            assert bound == pytest.approx(d / 2 - (1.7 if c else 0.0), rel=1e-13)
