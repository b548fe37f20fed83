"""The bound of a curved f takes its tangent where the method had it, of which a sketch has lost a
part: it is true at any place, kept with the result, and proved again from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.certificates.bound import lower_bound
from condal.io.results import load, save, verify
from condal.methods.rules import LineSearch
from condal.storage import Sketch
from known import planted_simplex, random_graph

EVERY = {"slack": 1e-6, "failure": 1e-6, "seed": 0}


@pytest.mark.parametrize("seed", range(20))
def test_the_tangent_at_any_place_gives_a_bound_on_the_right_side(seed):
    rng = np.random.default_rng(seed)
    known = planted_simplex(4 + seed % 7, kind=("equal", "box")[seed % 2], seed=seed)
    best = known.problem.f.M(known.x)
    for scale in (0.0, 1e-3, 1.0, 1e6):
        u = best + scale * rng.standard_normal(best.size)
        bound, _ = lower_bound(known.problem, u, known.y, **EVERY)
        assert bound <= known.optimum + 1e-12 * (1 + abs(known.optimum))
        assert condal.certify(known.problem, known.x, known.y, tangent=u).bound <= known.optimum
    assert condal.certify(known.problem, known.x, known.y, tangent=best).gap <= 1e-6


def signals(n=24, rank=4, noise=0.0):
    """Intensities of a mixture of signals: x of rank 4, of which a sketch of 2 loses a half."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((8 * n, n))
    b = np.sum((a @ rng.standard_normal((n, rank))) ** 2, axis=1)
    b = np.maximum(b + noise * b.mean() * rng.standard_normal(b.size), 0.0)
    return condal.problems.phase_retrieval(b, a)


def sketched(model, R=2, **options):
    method = condal.CGAL(eta=LineSearch())
    return condal.solve(model, method, storage=Sketch(model.n, R), **options)


@pytest.fixture(scope="module")
def short():
    """A model, and its result after some iterations with a sketch that cannot hold x."""
    model = signals(noise=1.0)
    return model, sketched(model, tol=1e-3, max_iters=60)


def test_what_a_sketch_has_lost_of_x_is_not_lost_of_the_bound(short):
    model, result = short
    assert result.reconstruction.missing_trace > 0.1
    assert result.tangent.shape == (model.problem.f.M.size,)
    here = condal.certify(model, result.x, result.y, tangent=result.tangent).bound
    there = condal.certify(model, result.x, result.y).bound
    assert 0.0 == there < here  # known without y
    # What a proof is asked for is told by the gap, and so it loses the less the nearer x is;
    assert here - 0.1 * (result.objective - here) <= result.bound <= here
    # the dual and the tangent behind it are those of a solve with the whole of x.
    whole = condal.solve(model, condal.CGAL(eta=LineSearch()), tol=1e-3, max_iters=60)
    assert whole.tangent is None
    same = condal.certify(model, whole.x, whole.y).bound
    assert abs(here - same) <= 0.1 * (result.objective - here) < here


def test_it_is_the_image_of_no_other_than_x_before_it_was_sketched(short):
    model, result = short
    # Mx on the way: its f is the objective of a row of the history
    value = model.problem.f.value(result.tangent)
    table = result.history.table[:, condal.History.columns.index("objective")]
    assert np.min(np.abs(table - value)) <= 1e-12


def test_a_problem_whose_x_a_sketch_holds_is_solved_with_it():
    model = signals(rank=1)
    result = sketched(model, R=2, tol=0.03, max_iters=3000)
    assert result.status is condal.Status.SOLVED
    assert verify(model, result).proved


def test_linear_problems_have_the_same_tangent_everywhere():
    model = condal.problems.max_cut(random_graph(40, 4.0))
    result = condal.solve(model, condal.CGAL(), storage=Sketch(40, 3), max_iters=30)
    assert result.reconstruction is not None
    assert result.tangent is None


def test_it_is_saved_and_what_it_proves_is_proved_again(short, tmp_path):
    model, result = short
    folder = save(result, tmp_path / "run")
    assert (
        "the image Mx at which the bound takes the tangent" in (folder / "README.txt").read_text()
    )
    assert "tangent=tangent" in (folder / "README.txt").read_text()
    loaded = load(folder).result
    np.testing.assert_array_equal(loaded.tangent, result.tangent)
    assert verify(model, loaded).proved
    assert not verify(model, replace(loaded, tangent=None)).proved
    assert not verify(model, replace(loaded, tangent=np.zeros_like(loaded.tangent))).proved


@pytest.mark.parametrize(
    ("tangent", "text"),
    [
        ([1.0], r"tangent must have a number for each of the 192 of Mx; got 1"),
        (np.full(192, np.nan), r"tangent"),
        (np.full(192, 1e200), r"the objective has no tangent there: it must be finite"),
        (np.ones((192, 1)), r"tangent"),
    ],
)
def test_a_tangent_that_is_none_is_refused(short, tangent, text):
    model, result = short
    with pytest.raises(condal.ProblemError, match=text):
        condal.certify(model, result.x, result.y, tangent=tangent)
    verdict = verify(model, replace(result, tangent=np.asarray(tangent)))
    assert not verdict.proved


def test_where_f_is_no_number_there_is_no_tangent():
    f = condal.Function(lambda u: -np.log(u).sum(), lambda u: -1 / u, L=100.0, size=2)
    problem = condal.Problem.of(f=f, X=condal.Simplex(2))
    with pytest.raises(condal.errors.PieceError, match="given as value returned nan at a u"):
        condal.certify(problem, np.full(2, 0.5), np.zeros(0), tangent=[-1.0, 1.0])
    assert condal.certify(problem, np.full(2, 0.5), np.zeros(0), tangent=[0.4, 0.7]).gap < 1
