"""What all models share: roundings check what they get, repeat themselves and carry their bound."""

from dataclasses import replace
from functools import cache
from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest

import condal
from builders import MODELS
from condal import problems
from condal.certificates.certificate import rounded_text
from condal.problems import max_cut
from condal.problems.models import CostModel, RoundedModel
from known import random_graph, torus

ROUNDED = [name for name in MODELS if isinstance(MODELS[name](), RoundedModel)]
COSTS = [name for name in ROUNDED if isinstance(MODELS[name](), CostModel)]


@cache
def solved(name):
    model = MODELS[name]()
    answer = getattr(model, MODELS[name].answer)
    return model, condal.solve(model, tol=1e-2, max_iters=2000), answer


@pytest.mark.parametrize("name", MODELS)
def test_only_a_result_of_the_model_has_an_answer(name):
    _, result, answer = solved(name)
    for other, text in (
        (replace(result, x=np.zeros((7, 9))), "the result belongs to another model: its point has"),
        (replace(result, x=None), "the result has no point to round"),
        (None, r"wanted a result, as condal\.solve returns it; got None"),
    ):
        with pytest.raises(condal.ProblemError, match=text):
            answer(other)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_rounding_repeats_itself_and_carries_its_bound(name):
    model, result, answer = solved(name)
    found, again = (answer(result, trials=3, seed=1) for _ in range(2))
    for one, other in zip(vars(found).values(), vars(again).values(), strict=True):
        assert one is other or np.array_equal(one, other)
    up = model.problem.maximise
    value = next(iter(vars(found).values()))
    assert value <= found.bound * (1 + 1e-12) if up else value >= found.bound * (1 - 1e-12)
    assert f"bound={rounded_text(found.bound, up=up)}, " in repr(found)


@pytest.mark.parametrize("name", COSTS)
def test_an_answer_cheaper_than_the_bound_is_of_another_model(name):
    model, result, answer = solved(name)
    found = answer(result)
    cost = model.cost(found.integers)
    assert model.excess(found.integers, result) >= 0.0
    dearer = replace(result, certificate=replace(result.certificate, bound=10 * cost))
    with pytest.raises(condal.ProblemError, match=r"costs .* to another model; solve"):
        model.excess(found.integers, dearer)
    with pytest.raises(condal.ProblemError, match="its point has shape"):
        model.excess(found.integers, replace(result, x=np.zeros((7, 9))))


def small_weights(n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(-2, 5, (n, n)) * (rng.random((n, n)) < 0.7), 1).astype(float)
    return W + W.T


def cut_of(W):
    """The weight of the pairs of vertices with different labels, or signs."""
    i, j = np.triu_indices(len(W), 1)
    return lambda labels: float(W[i, j] @ (labels[i] != labels[j]))


def labelled(n, values):
    """All labels of n vertices, the first of which has the first value."""
    return [np.array((values[0], *rest)) for rest in product(values, repeat=n - 1)]


def small_cut(seed):
    W = small_weights(9, seed)
    return problems.max_cut(W), cut_of(W), labelled(9, (1.0, -1.0))


def small_k_cut(k, seed):
    W = small_weights(8, seed)
    return problems.max_k_cut(W, k), cut_of(W), labelled(8, range(k))


def small_bisection(n, more, seed):
    W = small_weights(n, seed)
    halves = [s for s in labelled(n, (1.0, -1.0)) if abs(s.sum()) <= n % 2 + more]
    return problems.bisection(W, imbalance=n % 2 + more), cut_of(W), halves


def small_signs(seed):
    C = small_weights(10, seed)
    return problems.sign_synchronisation(C), lambda s: s @ C @ s, labelled(10, (1.0, -1.0))


def small_assignment(n, nonnegative, seed):
    A, B = np.random.default_rng(seed).integers(0, 9, (2, n, n)).astype(float)
    model = problems.quadratic_assignment(A, B, nonnegative=nonnegative)
    each = [np.array(p) for p in permutations(range(n))]
    return model, lambda p: float((A * B[np.ix_(p, p)]).sum()), each


def small_clusters(seed):
    points = np.random.default_rng(seed).standard_normal((7, 2))

    def cost(labels):
        groups = [points[labels == label] for label in np.unique(labels)]
        return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)

    return problems.k_means(points, 3), cost, labelled(7, range(3))


SMALL = {
    "max_cut": small_cut,
    "max_k_cut, 2 groups": lambda seed: small_k_cut(2, seed),
    "max_k_cut, 3 groups": lambda seed: small_k_cut(3, seed),
    "bisection": lambda seed: small_bisection(8, 0, seed),
    "bisection, odd": lambda seed: small_bisection(7, 0, seed),
    "bisection, room": lambda seed: small_bisection(8, 2, seed),
    "sign_synchronisation": small_signs,
    "quadratic_assignment": lambda seed: small_assignment((1, 2, 5, 5)[seed], "all", seed),
    "quadratic_assignment, costs": lambda seed: small_assignment(5, "costs", seed),
    "k_means": small_clusters,
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SMALL)
def test_small_problems_are_rounded_to_the_best_and_no_answer_is_past_the_bound(name, seed):
    model, value, answers = SMALL[name](seed)
    result = condal.solve(model)
    found = model.round(result)
    told = next(iter(vars(found).values()))
    up = model.problem.maximise
    best = (max if up else min)(map(value, answers))
    assert result.status is condal.Status.SOLVED
    assert told == pytest.approx(best)
    assert told == pytest.approx(value(np.asarray(found.integers)))
    assert best <= result.bound * (1 + 1e-12) if up else result.bound <= best + 1e-9


@pytest.mark.parametrize("kind", ["low rank", "dense"])
@pytest.mark.parametrize("pairs", ["max_cut", "none", "edges", "all"])
def test_a_repaired_point_is_feasible_and_feasible_points_are_kept(pairs, kind):
    W, rng = random_graph(30, 5.0), np.random.default_rng(0)
    model = max_cut(W) if pairs == "max_cut" else problems.max_k_cut(W, 3, pairs=pairs)
    U = rng.standard_normal((30, 4))
    U[3] = 0.0
    x = condal.LowRank(U, np.array([1.0, 0.5, 2.0, 0.1]))
    repaired = model.problem.repair(x if kind == "low rank" else condal.dense(x))
    assert model.problem.infeasibility(repaired) <= 1e-12
    assert np.linalg.eigvalsh(condal.dense(repaired)).min() >= -1e-12
    again = model.problem.repair(repaired)
    assert np.allclose(condal.dense(again), condal.dense(repaired))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"trials": 0}, "trials must be a whole number, at least 1; got 0"),
        ({"trials": 2.5}, "trials must be a whole number, at least 1; got 2.5"),
        ({"trials": "3"}, "trials must be a whole number, at least 1; got '3'"),
        ({"trials": True}, "trials must be a whole number, at least 1; got True"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
        ({"seed": "a"}, "seed must be a whole number, at least 0; got 'a'"),
        ({"max_seconds": 0}, "max_seconds must be positive, or None; got 0"),
        ({"max_seconds": float("nan")}, "max_seconds must be positive, or None; got nan"),
        ({"max_seconds": "9"}, "max_seconds must be positive, or None; got '9'"),
    ],
)
def test_rounding_says_what_it_needs(given, text):
    model = max_cut(torus(3, 3))
    with pytest.raises(condal.ProblemError, match=text):
        model.round(condal.solve(model, tol=1e-1), **given)


# Their reprs are one short line, without arrays.

MAX_CHARACTERS = 160


@pytest.mark.parametrize("name", MODELS)
def test_models_and_problems_have_short_reprs(name):
    model = MODELS[name]()
    for text in (repr(model), repr(model.problem)):
        assert "\n" not in text
        assert "array" not in text
        assert len(text) <= MAX_CHARACTERS


def test_the_repr_of_a_model_has_its_sizes_and_the_options_that_were_chosen():
    graph = nx.petersen_graph()
    assert repr(problems.max_cut(graph)) == "MaxCut(n=10, edges=15)"
    assert repr(problems.max_k_cut(graph, 3, name="mine")) == (
        "MaxKCut(n=10, k=3, edges=15, name='mine')"
    )
    assert repr(problems.bisection(graph, imbalance=2)) == "Bisection(n=10, edges=15, imbalance=2)"


def test_the_repr_of_a_problem_says_what_it_is_about():
    assert repr(problems.max_cut(nx.petersen_graph()).problem) == (
        "Problem('max-cut': maximise Linear over Spectrahedron(n=10, trace=10.0, at_most=False), "
        "h = Equal of size 10)"
    )
