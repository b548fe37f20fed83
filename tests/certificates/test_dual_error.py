"""`dual_error` is an upper bound of the distance to dom h*, in rational arithmetic."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from condal.nonsmooth import L2, GroupL1, Hinge, Linf, MaxEigenvalue, Maximum, Quantile
from condal.sets import Affine, PSDCone, SecondOrder, Separable
from laws.exact import dual_error_bounds_the_distance, known_exactly
from laws.functions import FUNCTIONS
from laws.sets import SETS

CASES = [case for case in [*SETS, *FUNCTIONS] if known_exactly(case)]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_no_point_counts_as_one_of_the_domain_that_is_farther_from_it(case):
    dual_error_bounds_the_distance(case)


def test_all_kinds_but_those_of_eigenvalues_and_kinks_are_asked():
    asked = {type(case.h) for case in CASES}
    left = {type(case.h) for case in [*SETS, *FUNCTIONS]} - asked
    assert left == {PSDCone, MaxEigenvalue, Hinge, Quantile}


@pytest.mark.parametrize("kind", [L2, GroupL1, Linf, Maximum, SecondOrder, Affine, Separable])
@pytest.mark.parametrize("part", [0.0, 0.5])
def test_the_law_finds_an_error_that_is_too_small(kind, part):
    case = next(case for case in reversed(CASES) if type(case.h) is kind and case.h.size > 1)
    h = copy(case.h)
    honest = h.dual_error
    h.dual_error = lambda y: part * honest(np.asarray(y))
    with pytest.raises(AssertionError):
        dual_error_bounds_the_distance(replace(case, make=lambda **_: h))
