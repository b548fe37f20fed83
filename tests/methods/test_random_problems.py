"""Methods that are chosen by name solve random problems, and say nothing false of them.

`tests/truth` does the same for the default method, and for others by a few iterations.
"""

from itertools import product

import numpy as np
import pytest

import condal
from condal.methods import InteriorPoint, PrimalDual, Splitting, corrective
from truth.families import REGIONS
from truth.judged import judge
from truth.rivals import clarabel_says
from truth.templates import random_case

TOL = 1e-3
METHODS = {  # with the iterations that it may take, and the number of problems of each domain
    "corrective": (corrective(), 300, 1),
    "default": (None, 300, 1),
    "interior-point": (InteriorPoint(), 60, 4),
    "primal-dual": (PrimalDual(), 300, 1),
    "splitting": (Splitting(), 300, 4),
}
KINDS = {
    "composite": ("corrective", "default", "primal-dual"),
    "slater": ("corrective", "interior-point", "primal-dual", "splitting"),
    "cone": ("interior-point", "primal-dual", "splitting"),
    "infeasible": ("interior-point", "primal-dual", "splitting"),
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names]
)
def test_problems_over_every_domain_are_solved_and_nothing_false_is_said(kind, name):
    method, most, seeds = METHODS[name]
    wrong, ended = [], []
    for family, seed in product(REGIONS, range(seeds)):
        rng = np.random.default_rng([seed, *family.encode()])
        case = random_case(family, REGIONS[family](rng), rng, kind)
        try:
            result = condal.solve(case.model, method, tol=TOL, max_iters=most)
        except condal.ProblemError:
            continue  # the method is for other problems
        findings = judge(case, result, clarabel_says(case.asked()), TOL)
        wrong += [f"{text}: {seed}, {case.story}" for text in findings.wrong]
        ended.append(result.status in (condal.Status.SOLVED, condal.Status.INFEASIBLE))
    assert wrong == []
    assert len(ended) >= 4
    assert sum(ended) >= 0.8 * len(ended)
