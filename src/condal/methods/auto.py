"""Which method to use, where none is given."""

from __future__ import annotations

from condal.methods.cgal import CGAL
from condal.methods.lowrank import LowRankCGAL
from condal.methods.rules import LineSearch
from condal.problem import Problem
from condal.types import Method


def choose(problem: Problem, *, free_storage: bool = True) -> Method:
    """The low-rank method where it is known to be the faster by far, else CGAL with line search.

    That is a linear objective with diag x = b for all constraints, as in max-cut, if the method's
    vectors fit and its storage may be chosen too.
    """
    lowrank = LowRankCGAL()
    if free_storage and lowrank.suits(problem):
        return lowrank
    return CGAL(eta=LineSearch())
