"""A checkpoint says what it is of, and is resumed with that alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import condal
from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.about import about_of, described, require_same, side
from condal.io.strict_json import decoded, encoded
from known import planted_sdp

PATH = "run.checkpoint"


def about(problem: condal.Problem) -> dict[str, Any]:
    made = about_of(described(problem), options={"tol": 1e-3}, k=7, objective=1.5, bound=-inf)
    return json.loads(json.dumps(made, allow_nan=False))


def test_it_says_what_it_is_of():
    problem = planted_sdp().problem
    found = about(problem)
    assert found["versions"]["condal"] == condal.__version__
    assert set(found["versions"]) == {"condal", "python", "numpy", "scipy"}
    assert found["problem"]["name"] == "planted equal"
    assert (found["problem"]["n"], found["problem"]["p"]) == (12, 12)
    assert (found["k"], found["objective"], found["bound"]) == (7, 1.5, "-inf")
    assert found["options"] == {"tol": 1e-3}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["created"])


def test_the_same_problem_is_taken():
    assert require_same(about(planted_sdp().problem), planted_sdp().problem, PATH) == ""


def refused(found: dict[str, Any], problem: condal.Problem) -> str:
    with pytest.raises(ProblemError) as caught:
        require_same(found, problem, PATH)
    assert str(caught.value).startswith(f"{PATH}: this checkpoint cannot be resumed: ")
    return str(caught.value).partition("resumed: ")[2]


def test_other_data_are_refused():
    found = about(planted_sdp().problem)
    assert refused(found, planted_sdp(seed=1).problem) == (
        "it is for planted equal (n = 12, p = 12), and this is planted equal (n = 12, p = 12) with "
        "other data; resume with the data of the checkpoint, or solve again at another path."
    )
    other = refused(found, planted_sdp(n=13, kind="box").problem)
    assert "and this is planted box (n = 13, p = 13) with other data" in other


def test_other_data_of_other_versions_may_be_rounding():
    found = about(planted_sdp().problem)
    found["versions"]["numpy"] = "1.99.0"
    assert refused(found, planted_sdp(seed=1).problem).endswith(
        " If the data are computed, they may round differently: the checkpoint was written with "
        "numpy 1.99.0."
    )


def test_another_condal_is_refused():
    problem = planted_sdp().problem
    found = about(problem)
    found["versions"]["condal"] = "0.0.9"
    assert refused(found, problem) == (
        f"condal 0.0.9 wrote it, and this is condal {condal.__version__}; resume with the condal "
        "that wrote it, or solve again"
    )


def test_data_of_another_dtype_are_other_data():
    C = np.random.default_rng(0).standard_normal((4, 4))
    C = C + C.T

    def problem(dtype):
        return condal.Problem.of(f=condal.Linear(C.astype(dtype)), X=condal.Spectrahedron(4))

    assert "with other data" in refused(about(problem(np.float64)), problem(np.float32))


@pytest.mark.parametrize("name", ["python", "numpy", "scipy"])
def test_other_versions_are_taken_with_a_note(name):
    problem = planted_sdp().problem
    found = about(problem)
    found["versions"][name] = "0.1"
    assert require_same(found, problem, PATH) == (
        f"the checkpoint was written with another {name}: the answer is as good, but not "
        "bit-identical"
    )


def test_another_byte_order_is_taken_with_a_note():
    problem = planted_sdp().problem
    found = about(problem) | {"byte_order": "big"}
    assert "with another byte order: the answer is as good" in require_same(found, problem, PATH)


def hidden(factor: float) -> condal.Problem:
    op = LinearOperator(
        (2, 2), matvec=lambda x: factor * x, rmatvec=lambda y: factor * y, dtype=np.float64
    )
    return condal.Problem.of(
        f=condal.Linear(np.ones(2)), X=condal.Simplex(2), A=op, K=condal.Equal(np.ones(2))
    )


def test_an_operator_that_gives_other_values_is_refused():
    found = about(hidden(2.0))
    assert require_same(found, hidden(2.0), PATH) == ""
    assert "an operator or a function of the problem gives other values" in refused(
        found, hidden(3.0)
    )


@pytest.mark.parametrize(
    "change", [{"problem": None}, {"problem": {}}, {"options": []}, {"more": 1}]
)
def test_one_that_does_not_say_is_refused(change):
    problem = planted_sdp().problem
    with pytest.raises(FormatError, match=r"run.checkpoint: does not say which problem it is for"):
        require_same(about(problem) | change, problem, PATH)


@pytest.mark.parametrize("value", [None, 3, [], {"condal": 5}, {}])
def test_versions_that_are_none_are_refused(value):
    problem = planted_sdp().problem
    assert " wrote it, and this is condal" in refused(about(problem) | {"versions": value}, problem)


@pytest.mark.parametrize("value", [None, 3, ["a"], [None], [True], {}])
def test_probes_that_are_no_numbers_are_refused(value):
    problem = hidden(2.0)
    found = about(problem)
    found["problem"]["probes"] = value
    with pytest.raises((FormatError, ProblemError), match="solve again"):
        require_same(found, problem, PATH)


def test_a_name_that_is_none_is_shown_safely():
    problem = replace(planted_sdp().problem, name="\x1b[31m" + "a" * 100, checked=True)
    text = refused(about(problem), planted_sdp(seed=1).problem)
    assert "\x1b" not in text
    assert len(text) < 400


def test_the_side_of_a_domain():
    product = condal.Product(condal.Simplex(3), condal.Spectrahedron(4))
    assert side(product) == 7
    assert side(object()) is None


@pytest.mark.parametrize("value", [1.5, inf, -inf, nan, np.float64(2.0)])
def test_a_number_is_plain_and_back(value):
    back = decoded(json.loads(json.dumps(encoded(value), allow_nan=False)))
    assert back == value or (back != back and value != value)
