"""The methods of the paper, written out with NumPy from its pages, against the presets."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.methods import fwal
from condal.methods.rules import Const, Decr, Fixed, Harmonic, LineSearch, Never, Proportional
from condal.methods.state import Warm
from condal.storage import Dense
from condal_lab.methods import AUPD, IAL, UPD

ITERATIONS = 25  # beyond them the rounding of the eigenvectors has grown too much
CLOSE = 1e-10  # of the size of x and of y


@dataclass(frozen=True)
class Small:
    """min <c, x> + |x - b|^2 curved / 2 over X with low <= Ax <= high, all as dense arrays."""

    problem: condal.Problem
    c: np.ndarray
    curved: float
    b: np.ndarray
    A: np.ndarray
    low: np.ndarray
    high: np.ndarray
    D_X: float
    x1: np.ndarray

    def lmo(self, v):
        if self.x1.ndim == 1:
            return np.eye(v.size)[np.argmin(v)]
        u = np.linalg.eigh(v)[1][:, 0]
        return len(v) * np.outer(u, u)

    def image(self, x):
        return self.A @ x.ravel()

    def adjoint(self, y):
        return (self.A.T @ y).reshape(self.x1.shape)

    def gradient(self, x):
        return self.c + self.curved * (x - self.b)

    def project(self, z):
        return np.clip(z, self.low, self.high)

    @property
    def norm_A(self):
        return np.linalg.norm(self.A, 2)


def max_cut():
    """min -<L, x>/4 over x psd with trace n, diag x = 1."""
    rng, n = np.random.default_rng(3), 6
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    W += W.T
    C = (W - np.diag(W.sum(axis=1))) / 4
    X, A = condal.Spectrahedron(n, trace=float(n)), condal.Diagonal(n)
    problem = condal.Problem.of(f=condal.Linear(C), X=X, A=A, K=condal.Equal(np.ones(n)))
    rows = np.array([np.outer(e, e).ravel() for e in np.eye(n)])
    ones = np.ones(n)
    return Small(problem, C, 0.0, 0 * C, rows, ones, ones, np.sqrt(2) * n, np.eye(n))


def vector(curved):
    """A random problem over the simplex with a box of constraints."""
    rng, n, p = np.random.default_rng(5), 9, 4
    c, b, A = rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal((p, n))
    inside = A @ rng.dirichlet(np.ones(n))
    low, high = inside - 0.1, inside + 0.2
    f = condal.Linear(c)
    if curved:  # |x - b|^2 curved / 2 + <c, x> is a least squares function, but for a constant
        root = np.sqrt(curved) * np.eye(n)
        f = condal.LeastSquares(condal.Matrix(root), root @ b - c / np.sqrt(curved))
    parts = {"f": f, "X": condal.Simplex(n), "A": condal.Matrix(A), "K": condal.Box(low, high)}
    problem = condal.Problem.of(**parts)
    return Small(problem, c, curved, b, A, low, high, np.sqrt(2), np.full(n, 1 / n))


PROBLEMS = {
    "max-cut": max_cut,
    "linear": partial(vector, 0.0),
    "curved": partial(vector, 2.0),
}


# The paper, section 3: Algorithm 1.


def algorithm_1(small, x, y, lam0, sigma, *, D_Y=np.inf):
    """CGAL with the dual steps (const.) or (decr.), and HCGM, for which sigma is 0."""
    for k in range(1, ITERATIONS + 1):
        eta, lam, lam_next = 2 / (k + 1), lam0 * np.sqrt(k + 1), lam0 * np.sqrt(k + 2)
        r = small.project(small.image(x) + y / lam)
        v = small.gradient(x) + small.adjoint(y) + lam * small.adjoint(small.image(x) - r)
        s = small.lmo(v)
        x = x + eta * (s - x)
        d = small.image(x) - small.project(small.image(x) + y / lam_next)
        budget = eta**2 * (small.curved + lam_next * small.norm_A**2) * small.D_X**2 / 2
        caps = {
            "const": min(lam0, budget / max(d @ d, 1e-300)),
            "decr": lam0 / (2 * np.sqrt(k + 1)),
            "never": 0.0,
        }
        y = y + longest_step(y, d, caps[sigma], D_Y) * d
        yield x, y


def longest_step(y, d, cap, D_Y):
    """The largest step up to cap with |y + step d| <= D_Y, by bisection."""
    low, high = 0.0, cap
    if np.linalg.norm(y + cap * d) <= D_Y:
        return cap
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.linalg.norm(y + middle * d) <= D_Y else (low, middle)
    return low


# Section 4: the other methods.


def fw_al(small, x, y, lam, rho):
    """FW-AL with line search, sigma = 2 sigma0 / (k + 2) and sigma0 = 2 rho / lam."""
    for k in range(1, ITERATIONS + 1):
        w = y + lam * (small.image(x) - small.project(small.image(x) + y / lam))
        s = small.lmo(small.gradient(x) + small.adjoint(w))
        x = x + segment_minimum(small, x, s, y, lam) * (s - x)
        d = small.image(x) - small.project(small.image(x) + y / lam)
        y = y + 2 * (2 * rho / lam) / (k + 2) * d
        yield x, y


def segment_minimum(small, x, s, y, lam):
    """The minimum of L_lam(., y) over the segment from x to s: a bisection of its slope."""

    def slope(t):
        z = x + t * (s - x)
        w = y + lam * (small.image(z) - small.project(small.image(z) + y / lam))
        return np.sum((small.gradient(z) + small.adjoint(w)) * (s - x))

    low, high = 0.0, 1.0
    if slope(1.0) <= 0:
        return 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def ial(small, x, y, lam, eps0):
    """IAL: conditional gradient steps to a gap of eps0 / j, then y + lam d. One pair per call."""
    outer, inner = 1, 0
    for _ in range(ITERATIONS):
        w = y + lam * (small.image(x) - small.project(small.image(x) + y / lam))
        v = small.gradient(x) + small.adjoint(w)
        s = small.lmo(v)
        if np.sum(v * (x - s)) <= eps0 / outer:
            y = y + lam * (small.image(x) - small.project(small.image(x) + y / lam))
            outer, inner = outer + 1, 0
        else:
            inner += 1
            x = x + 2 / (inner + 1) * (s - x)
        yield x, y


def dual_value(small, y):
    """G0(y) = -min over X of <c, x> + <y, Ax>, and the answer of the oracle."""
    s = small.lmo(small.c + small.adjoint(y))
    return -np.sum(small.c * s) - y @ small.image(s), s


def dual_step(small, y, s, M):
    """prox_{h*/M}(y + As/M), where h* is the support function of K, by Moreau's identity."""
    z = y + small.image(s) / M
    return z - small.project(M * z) / M


def upd(small, y, eps):
    M, x, total = 1.0, 0.0, 0.0
    G, s = dual_value(small, y)
    for _ in range(ITERATIONS):
        M /= 2
        while True:
            after = dual_step(small, y, s, M)
            G_after, s_after = dual_value(small, after)
            step = after - y
            if G_after <= G - small.image(s) @ step + M / 2 * step @ step + eps / 2:
                break
            M *= 2
        total += 1 / M
        x = x + (s - x) / (M * total)
        y, G, s = after, G_after, s_after
        yield x, y


def aupd(small, y, eps):
    M, t, x, total, hat = 1.0, 1.0, 0.0, 0.0, y
    for _ in range(ITERATIONS):
        G, s = dual_value(small, hat)
        while True:
            after = dual_step(small, hat, s, M)
            step = after - hat
            model = G - small.image(s) @ step + M / 2 * step @ step
            if dual_value(small, after)[0] <= model + eps / (2 * t):
                break
            M *= 2
        total += t / M
        x = x + t / M / total * (s - x)
        t_next = (1 + np.sqrt(1 + 4 * t**2)) / 2
        hat, y, t = after + (t - 1) / t_next * (after - y), after, t_next
        yield x, y


CGAL = condal.CGAL.paper
EXACT_SEARCH = LineSearch(flat=1e-13)
AVERAGES = ("upd", "aupd")  # their x is an average of answers: there is no x1

SIGMAS = {"const": Const(), "decr": Decr(), "never": Never()}
METHODS = {
    "cgal const": (CGAL(0.7), partial(algorithm_1, lam0=0.7, sigma="const")),
    "cgal decr": (CGAL(0.7, sigma=Decr()), partial(algorithm_1, lam0=0.7, sigma="decr")),
    "cgal bounded": (CGAL(0.7, D_Y=1.2), partial(algorithm_1, lam0=0.7, sigma="const", D_Y=1.2)),
    "decr bounded": (
        CGAL(0.7, sigma=Decr(), D_Y=1.2),
        partial(algorithm_1, lam0=0.7, sigma="decr", D_Y=1.2),
    ),
    "hcgm": (CGAL(0.7, sigma=Never()), partial(algorithm_1, lam0=0.7, sigma="never")),
    "fw-al": (
        CGAL(Fixed(0.5), eta=EXACT_SEARCH, sigma=Harmonic(0.4)),
        partial(fw_al, lam=0.5, rho=0.1),
    ),
    "ial": (IAL.paper(0.5, 2.0), partial(ial, lam=0.5, eps0=2.0)),
    "upd": (UPD.paper(0.05), partial(upd, eps=0.05)),
    "aupd": (AUPD.paper(0.05), partial(aupd, eps=0.05)),
}


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=CLOSE * max(1, np.abs(theirs).max()))


def compared(small, method, literal, x1, y1):
    """Compare every x of a solve, and every y of the method, with those of the paper."""
    x, points = Dense(), []
    result = condal.solve(
        small.problem,
        method,
        warm_start=(x1, y1),
        tol=1e-14,
        max_iters=ITERATIONS,
        storage=x,
        callback=lambda row: points.append(x.point()),
    )
    assert result.method == f"{method.name} (not normalised)"
    start = method.start(small.problem, Warm(x1, y1, 0))
    x = Dense()
    if x1 is not None:
        x.load(x1)
    duals = [state.y for state in islice(method.iterates(small.problem, x, start), ITERATIONS)]
    assert len(points) >= ITERATIONS // 2
    for (x_literal, y_literal), point, y in zip(literal, points, duals, strict=False):
        close(point, x_literal)
        close(y, y_literal)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", METHODS)
def test_a_preset_is_the_method_as_printed(name, problem):
    small, (method, printed) = PROBLEMS[problem](), METHODS[name]
    if name in AVERAGES and small.curved:
        with pytest.raises(condal.ProblemError, match="needs a linear objective"):
            condal.solve(small.problem, method)
        return
    y1 = np.full(small.problem.A.size, 0.0 if name == "hcgm" else 0.3)
    first = [] if name in AVERAGES else [small.x1]
    compared(small, method, printed(small, *first, y1), small.x1, y1)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sigma", ["const", "decr", "never"])
def test_without_a_start_algorithm_1_begins_at_0(sigma, problem):
    """eta_1 = 1, so x1 = 0 decides only the first atom, and x2 is in X."""
    small, method = PROBLEMS[problem](), CGAL(0.7, sigma=SIGMAS[sigma])
    y1 = np.zeros(small.problem.A.size)
    literal = algorithm_1(small, 0 * small.x1, y1, 0.7, sigma)
    compared(small, method, literal, None, y1)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_d_y_may_be_a_sequence_or_the_rule_of_the_paper(problem):
    small = PROBLEMS[problem]()
    radius = small.D_X * small.norm_A * 0.02
    states = {}
    for name, D_Y in {
        "number": 0.5 * radius,
        "rule": Proportional(0.5),
        "function": lambda k, radius: 0.5 * radius,
        "sequence": lambda k, radius: 0.1 / k,
    }.items():
        method = CGAL(0.02, D_Y=D_Y)
        states[name] = list(islice(method.iterates(small.problem, Dense()), ITERATIONS))
    for state, same in zip(states["number"], states["rule"], strict=True):
        close(same.y, state.y)
        assert np.linalg.norm(same.y) <= 0.5 * radius * (1 + 1e-12)
    np.testing.assert_array_equal(states["function"][-1].y, states["rule"][-1].y)
    # A bound below |y| allows no step outwards, and never shortens y.
    norms = [np.linalg.norm(state.y) for state in states["sequence"]]
    assert max(norms) <= 0.1 / 2 * (1 + 1e-12)


# Units.


def test_the_normalised_solve_is_the_same_solve_with_another_lam0():
    """If all rows have one factor d, lam0 becomes lam0 c / d^2, and y becomes y c / d."""
    small = max_cut()
    normalised, scaling = normalise(small.problem)
    d = scaling.rows[0]
    assert np.all(scaling.rows == d)
    given = CGAL(0.7, D_Y=Proportional())
    ours = replace(given, lam0=0.7 * scaling.c / d**2, normalise=True)
    plain, scaled = Dense(), Dense()
    pairs = zip(
        given.iterates(small.problem, plain), ours.iterates(normalised, scaled), strict=False
    )
    for state, other in islice(pairs, ITERATIONS):
        close(scaled.point(), plain.point())
        close(scaling.dual(other.y), state.y)
        assert other.lam == pytest.approx(state.lam * scaling.c / d**2)
        assert other.sigma == pytest.approx(state.sigma * scaling.c / d**2)


def test_a_warm_start_does_not_take_the_penalty_of_other_units():
    model = condal.problems.max_cut(1.0 - np.eye(5))
    first = condal.solve(model, CGAL(1e3), max_iters=5, tol=1e-9)
    assert first.history["lam"][-1] > 1e3
    second = condal.solve(model, condal.CGAL(), max_iters=1, tol=1e-9, warm_start=first)
    assert second.history["lam"][0] < 1.0


def test_a_checkpoint_keeps_the_units(tmp_path):
    model = condal.problems.max_cut(1.0 - np.eye(6))
    method, options = CGAL(0.5, D_Y=Proportional(3.0)), {"tol": 1e-12}
    whole = condal.solve(model, method, max_iters=12, **options)
    condal.solve(model, method, max_iters=6, checkpoint=tmp_path / "run", **options)
    resumed = condal.resume(tmp_path / "run", model, max_iters=6)
    np.testing.assert_array_equal(resumed.history["lam"], whole.history["lam"])
    np.testing.assert_array_equal(resumed.history["objective"], whole.history["objective"])


# What is refused.


def test_a_preset_needs_lam0():
    for make in (lambda: CGAL(None), lambda: condal.CGAL(normalise=False)):
        with pytest.raises(condal.ProblemError, match="lam0 is required for a problem that is not"):
            make()


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        ((np.full(9, 1.0), None), "x1 of warm_start must lie in X; its distance from X is"),
        ((np.full(8, 1 / 8), None), "x1 of warm_start: "),
        ((np.full(9, np.nan), None), "x1 of warm_start: x must be finite"),
        (("x", None), "x1 of warm_start: x must be arrays of real numbers"),
        ((None, np.zeros(3)), "y1 of warm_start must hold 4 finite numbers"),
        ((None, ["a"] * 4), "y1 of warm_start must hold 4 finite numbers"),
        ((None, np.full(4, np.nan)), "y1 of warm_start must hold 4 finite numbers"),
        ((None, None, None), r"a Result or a pair \(x1, y1\); got 3 items"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(pair, text):
    with pytest.raises(condal.ProblemError, match=text):
        condal.solve(vector(0.0).problem, CGAL(1.0), warm_start=pair)


def test_fwal_takes_a_primal_rule():
    method = fwal(2.0, 0.5, eta=LineSearch())
    assert (method.eta, method.sigma) == (LineSearch(), Harmonic(0.5))
    assert method.name == "fw-al"
