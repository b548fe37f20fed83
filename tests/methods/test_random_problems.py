"""Methods that are chosen by name solve random problems, and say nothing false of them.

`tests/truth` does the same for the default method, and for others by a few iterations.
"""

from itertools import product

import numpy as np
import pytest

import condal
from condal.methods import CGAL, InteriorPoint, LowRankCGAL, PrimalDual, Splitting, corrective
from condal.methods.rules import LineSearch
from truth.families import REGIONS
from truth.judged import judge
from truth.rivals import clarabel_says
from truth.templates import random_case

METHODS = {  # with the tolerance, the iterations, and the number of problems of each domain
    "cgal": (CGAL(eta=LineSearch()), 1e-2, 600, 1),
    "corrective": (corrective(), 1e-3, 300, 1),
    "default": (None, 1e-3, 300, 1),
    "interior-point": (InteriorPoint(), 1e-3, 60, 4),
    "lowrank": (LowRankCGAL(), 1e-3, 300, 4),
    "primal-dual": (PrimalDual(), 1e-3, 300, 1),
    "splitting": (Splitting(), 1e-3, 300, 4),
}
KINDS = {
    "composite": ("cgal", "corrective", "default", "lowrank", "primal-dual"),
    "slater": ("cgal", "corrective", "interior-point", "lowrank", "primal-dual", "splitting"),
    "cone": ("cgal", "interior-point", "lowrank", "primal-dual", "splitting"),
    "free": ("cgal", "interior-point", "lowrank", "splitting"),
    "infeasible": ("cgal", "interior-point", "lowrank", "primal-dual", "splitting"),
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names]
)
def test_problems_over_every_domain_are_solved_and_nothing_false_is_said(kind, name):
    """And what is solved is where another solve begins, and soon ends."""
    method, tol, most, seeds = METHODS[name]
    wrong, ended = [], []
    for family, seed in product(REGIONS, range(seeds)):
        rng = np.random.default_rng([seed, *family.encode()])
        case = random_case(family, REGIONS[family](rng), rng, kind)
        try:
            result = condal.solve(case.model, method, tol=tol, max_iters=most)
        except condal.ProblemError:
            continue  # the method is for other problems
        findings = judge(case, result, clarabel_says(case.asked()), tol)
        wrong += [f"{text}: {seed}, {case.story}" for text in findings.wrong]
        ended.append(result.status in (condal.Status.SOLVED, condal.Status.INFEASIBLE))
        if result.status is condal.Status.SOLVED:
            again = condal.solve(
                case.model, method, tol=10 * tol, warm_start=result, max_iters=max(2, most // 15)
            )
            assert again.status is condal.Status.SOLVED, f"{seed}, {case.story}"
    assert wrong == []
    assert len(ended) >= 4
    assert sum(ended) >= 0.8 * len(ended)
