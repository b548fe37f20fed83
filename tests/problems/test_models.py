"""What all models share: roundings check what they get, repeat themselves and carry their bound."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import condal
from builders import MODELS
from condal.certificates.certificate import rounded_text
from condal.problems import max_cut
from condal.problems.models import RoundedModel
from known import torus

ANSWERS = {  # the method that turns a result into an answer; of the others it is `round`
    "generalised_eigenvector": "vector",
    "matrix_completion": "complete",
    "phase_retrieval": "signal",
    "sparse_pca": "component",
    "state_tomography": "state",
    "trace_regression": "fit",
}
ROUNDED = [name for name in MODELS if isinstance(MODELS[name](), RoundedModel)]


@cache
def solved(name):
    model = MODELS[name]()
    answer = getattr(model, ANSWERS.get(name.split(" ")[0], "round"))
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
