"""Reference optima: certified, feasible, and equal to known optima."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from condal.errors import ProblemError
from condal.problems import generalised_eigenvector
from condal_lab.experiments.instances import QUICK, Instance, build
from condal_lab.experiments.trial import Reference, reference
from known import DATA, needs_data


def instance(model):
    return Instance("here", "here", model.problem)


@pytest.mark.parametrize("name", QUICK)
def test_the_optima_of_the_stand_ins_are_certified(name):
    stand_in = build(name, quick=True)
    known = reference(stand_in)
    assert known.gap <= 1e-9
    assert known.infeasibility <= 1e-9
    assert known.distance_to_X <= 1e-12
    assert known.failure == 0.0
    # The optimum lies between the values of the point and of the dual, but for an infeasibility.
    unit = abs(known.objective)
    assert stand_in.problem.sense * (known.objective - known.bound) >= -1e-9 * unit
    assert reference(stand_in).objective == known.objective


def test_a_reference_is_plain_json():
    known = reference(build("g1", quick=True))
    assert Reference(**json.loads(json.dumps(asdict(known)))) == known


def test_an_optimum_that_is_not_known_is_an_error():
    infeasible = instance(generalised_eigenvector(np.eye(2), np.diag([1.0, -1.0]), 0.5))
    with pytest.raises(ProblemError, match=r"the optimum of here is not known: .* ended with inf"):
        reference(infeasible)
    with pytest.raises(ProblemError, match=r"the optimum of mnist-like is not known: .*max_sec"):
        reference(build("mnist", quick=True), max_seconds=1e-9)


@needs_data
@pytest.mark.parametrize(("name", "optimum"), [("gd97b", 15340.053925), ("g1", 12083.197655)])
def test_published_graphs_have_their_known_optima(name, optimum):
    known = reference(build(name, DATA))
    assert known.objective == pytest.approx(optimum, rel=1e-9)
    assert known.gap <= 1e-8
