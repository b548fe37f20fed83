"""The fully corrective step and the small quadratic program in it: optimality by its conditions."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condal
from condal.driver.scaling import normalise
from condal.methods import corrective
from condal.methods.hull import Hull, minimised
from condal.methods.lagrangian import lagrangian, multiplier
from condal.methods.rules import Exact
from condal.storage import Atoms, Dense
from known import PLANTED


def conditions(H, c, blocks, t):
    """How far t is from optimal: the Frank-Wolfe gap over the product of the simplices."""
    gradient = H @ t + c
    return float(gradient @ t) - sum(gradient[blocks == b].min() for b in np.unique(blocks))


def start(blocks):
    counts = np.bincount(blocks)
    return 1.0 / counts[blocks]


@given(
    m=st.integers(1, 14),
    rank=st.integers(0, 14),
    parts=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_the_minimiser_meets_its_conditions(m, rank, parts, seed, size):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((min(rank, m), m))
    H, c = size * F.T @ F, size * rng.standard_normal(m)
    blocks = np.arange(m) % min(parts, m)
    t = minimised(H, c, blocks, start(blocks))
    assert np.all(t >= 0)
    np.testing.assert_allclose(np.bincount(blocks, weights=t), 1.0, rtol=1e-12)
    assert conditions(H, c, blocks, t) <= 1e-8 * size


def test_equal_atoms_do_no_harm():
    F = np.tile(np.array([[1.0, -1.0, 0.5]]), 2)
    H, c = F.T @ F, np.zeros(6)
    blocks = np.zeros(6, dtype=np.intp)
    t = minimised(H, c, blocks, start(blocks))
    assert abs(float((F @ t)[0])) <= 1e-7


@pytest.mark.parametrize("name", PLANTED)
def test_the_corrected_point_minimises_the_lagrangian_over_its_atoms(name):
    problem, _ = normalise(PLANTED[name]().problem)
    method, x = replace(corrective(0.5), tol=Exact()), Atoms()
    states = []
    for state in islice(method.iterates(problem, x), 25):
        hull, weights = state.carry.hull, x.weights
        assert hull.AS.shape[1] == len(x.points) == weights.size
        assert np.all(weights > 0)
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)
        np.testing.assert_allclose(hull.AS @ weights, state.Ax, atol=1e-12)
        states.append(state)
    for before, state in pairwise(states):
        # No atom that is kept is better than another, and L is at most what it was before.
        w = multiplier(problem.h, state.Ax, before.y, state.lam)
        slopes = state.carry.hull.MS.T @ problem.f.gradient(state.Mx) + state.carry.hull.AS.T @ w
        assert np.ptp(slopes) <= 1e-5 * max(abs(state.gap), 1e-6) / x.weights.min() + 1e-9
        after = lagrangian(problem, state.Mx, state.Ax, before.y, state.lam)
        assert after <= lagrangian(problem, before.Mx, before.Ax, before.y, state.lam) + 1e-12


def test_atoms_of_no_weight_are_dropped():
    """The solution has rank 2: of hundreds of atoms few are kept."""
    known = PLANTED["sdp-equal"]()
    x = Atoms()
    for _ in islice(corrective().iterates(known.problem, x), 300):
        pass
    assert len(x.points) <= 30


def test_an_atom_that_comes_again_is_not_kept_twice():
    known = PLANTED["simplex-equal"]()
    x = Atoms()
    for _ in islice(corrective().iterates(known.problem, x), 100):
        assert len(x.points) <= 10
        assert len({int(np.argmax(p)) for p in x.points}) == len(x.points)


def test_it_needs_a_storage_of_atoms():
    known = PLANTED["sdp-equal"]()
    with pytest.raises(
        condal.ProblemError, match=r"leave storage out, or pass condal.storage.Atoms\(\)"
    ):
        condal.solve(known.problem, corrective(), storage=Dense())


def test_the_hull_of_a_storage_has_the_images_of_its_atoms():
    known = PLANTED["sdp-box"]()
    x = Atoms()
    assert Hull.of(known.problem, x).AS.shape == (known.problem.A.size, 0)
    x.load(known.x)
    np.testing.assert_array_equal(Hull.of(known.problem, x).AS[:, 0], known.problem.A(known.x))
