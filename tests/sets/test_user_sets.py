"""A user's set needs `size`, `prox` and `conjugate`; a function also `value` and `lipschitz`."""

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.sets.defaults import ProximableDefaults, complete_proximable
from laws.functions import FUNCTIONS
from laws.sets import SETS

NORMAL = np.array([0.6, 0.8, 0.0])


class HalfSpace:
    """K = {z : <a, z> <= c}, |a| = 1."""

    def __init__(self, a, c):
        self.a, self.c, self.size = a, c, a.size

    def prox(self, z, t):
        return z - max(float(self.a @ z) - self.c, 0.0) * self.a

    def conjugate(self, y):
        along = float(self.a @ y)
        near = along >= 0 and np.linalg.norm(y - along * self.a) <= 1e-12 * np.linalg.norm(y)
        return along * self.c if near or not np.any(y) else np.inf


class Absolute:
    """g(z) = |z_1| + |z_2| + ..."""

    lipschitz = np.sqrt(3.0)
    size = 3

    def prox(self, z, t):
        return z - np.clip(z, -t, t)

    def value(self, z):
        return float(np.abs(z).sum())

    def conjugate(self, y):
        return 0.0 if np.all(np.abs(y) <= 1.0) else np.inf


def solved(**pieces):
    problem = condal.Problem.of(
        condal.LeastSquares(np.eye(3), [1.0, 2.0, -0.5]), condal.L2Ball(3), **pieces
    )
    condal.check_problem(problem)
    return condal.solve(problem, tol=1e-4)


def test_a_set_of_three_members_is_solved_and_its_proof_says_what_it_trusts():
    result = solved(A=condal.Identity(3), K=HalfSpace(NORMAL, 0.5))
    assert result.status is condal.Status.SOLVED
    assert "trusting the conjugate of the set K to rounding" in result.certificate.how
    assert NORMAL @ result.x == pytest.approx(0.5, abs=1e-3)


def test_scaled_forms_and_pieces_of_its_own_are_completed_too():
    class Scaled(HalfSpace):
        def scaled(self, rows, c):
            return Scaled(self.a, self.c * rows[0])

        @property
        def pieces(self):
            return [(slice(0, self.size), HalfSpace(self.a, self.c))]

    h = complete_proximable(Scaled(NORMAL, 0.5), "the set K")
    assert h.scaled(np.full(3, 2.0), 1.0).support(NORMAL) == pytest.approx(1.0)
    assert h.pieces[0][1].support(NORMAL) == pytest.approx(0.5)
    result = solved(A=condal.Identity(3), K=Scaled(NORMAL, 0.5))
    assert result.status is condal.Status.SOLVED


def test_a_function_of_five_members_gives_the_same_optimum_as_ours():
    result, ours = solved(g=Absolute()), solved(g=condal.L1(1.0))
    assert result.status is ours.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(ours.objective, abs=2e-4)
    assert "trusting the conjugate of the function g to rounding" in result.certificate.how


@pytest.mark.parametrize("missing", ["prox", "conjugate", "size"])
def test_what_is_missing_is_named_with_its_purpose(missing):
    class Incomplete:
        """K without one member."""

    for name in {"prox", "conjugate", "size"} - {missing}:
        setattr(Incomplete, name, 3 if name == "size" else lambda *_: None)
    with pytest.raises(ProblemError, match=rf"the set K, a Incomplete, lacks .*; add {missing}"):
        complete_proximable(Incomplete(), "the set K")


def test_a_function_needs_its_lipschitz_constant():
    class Unbounded:
        size = 3
        prox, value, conjugate = Absolute.prox, Absolute.value, Absolute.conjugate

    with pytest.raises(ProblemError, match="add lipschitz: the Lipschitz constant of a function g"):
        solved(g=Unbounded())


class Least(ProximableDefaults):
    """Another h, seen only through what its defaults need."""

    def __init__(self, h):
        self.h, self.size = h, h.size
        if h.lipschitz < np.inf:
            self.value = h.value

    @property
    def lipschitz(self):
        return self.h.lipschitz

    def prox(self, z, t):
        return self.h.prox(z, t)

    def conjugate(self, y):
        return self.h.conjugate(y)


def test_defaults_agree_with_every_set_and_function_of_ours():
    rng = np.random.default_rng(0)
    for case in [*SETS, *FUNCTIONS]:
        h, least = case.h, Least(case.h)
        if not h.size or 0 < sum(part.lipschitz < np.inf for _, part in h.pieces) < len(h.pieces):
            continue  # a set and a function at once have no default for `value`
        rows = np.full(h.size, 0.7)
        for pair in ((h, least), (h.scaled(rows, 2.5), least.scaled(rows, 2.5))):
            for z in 3 * rng.standard_normal((4, h.size)):
                compare(*pair, z, case.name)


def compare(ours, least, z, name):
    for verb in ("distance", "normal_residual", "value"):
        mine, theirs = getattr(ours, verb)(z), getattr(least, verb)(z)
        np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-9, err_msg=f"{name} {verb}")
    w = ours.multiplier(z, 1.7)
    np.testing.assert_allclose(least.multiplier(z, 1.7), w, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(least.conjugate(w), ours.conjugate(w), rtol=1e-9, atol=1e-9)
    near = ours.dual_point(z)
    np.testing.assert_allclose(least.dual_point(z), near, rtol=1e-5, atol=1e-5, err_msg=name)
