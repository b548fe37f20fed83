"""Answers of any solver to a conic program: what is proved is true, what is missing is named."""

import numpy as np
import pytest

from condal.conic import Block, Program, certify
from condal.errors import ProblemError
from condal.linalg.points import LowRank

ROOT = np.sqrt(2.0)


def program(*, maximise=True, offset=0.0):
    """x_12 with x_11 = 1 and x_22 + s = 2: the maximum is sqrt(2), the minimum -sqrt(2)."""
    A = np.zeros((2, 5))
    A[0, 0] = A[1, 3] = A[1, 4] = 1.0
    blocks = (Block("psd", 2), Block("orthant", 1))
    return Program([0, 0.5, 0.5, 0, 0], A, [1.0, 2.0], blocks, offset=offset, maximise=maximise)


X = (np.array([[1.0, ROOT], [ROOT, 2.0]]), np.zeros(1))
INSIDE = (np.array([[1.0, 1.4], [1.4, 1.999]]), np.array([0.001]))
Z = np.array([ROOT / 2, ROOT / 4])


def line(answer):
    return answer.verdict.splitlines()[0]


@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_a_good_pair_brackets_the_optimum(maximise, offset):
    sense = 1.0 if maximise else -1.0
    point = (np.array([[1.0, sense * 1.4], [sense * 1.4, 1.999]]), INSIDE[1])
    dual = sense * (Z + 1e-6)
    answer = certify(program(maximise=maximise, offset=offset), point, dual)
    assert answer.proved
    assert answer.status == "bounded"
    optimum = sense * ROOT + offset
    low, high = sorted([answer.bound, answer.attained])
    assert low <= optimum <= high
    assert high - low <= 0.02
    assert answer.objective == pytest.approx(sense * 1.4 + offset)
    side = "at most" if maximise else "at least"
    name = "maximum" if maximise else "minimum"
    assert line(answer).startswith(f"proved, without assumptions: the {name} is {side} ")
    assert answer.excess(0.02) == ""
    assert "a gap of" in answer.excess(1e-3)


def test_a_bound_is_printed_on_the_safe_side():
    answer = certify(program(), None, Z + 1e-9)
    shown = float(line(answer).split("at most ")[1].split(";")[0])
    assert shown >= answer.bound >= ROOT


def test_a_dual_that_is_not_quite_feasible_is_repaired_by_a_proved_trace():
    answer = certify(program(), X, Z - 1e-7)
    assert answer.proved
    assert ROOT <= answer.bound <= ROOT + 1e-5
    assert "without assumptions" in line(answer)


def unbounded_trace():
    """max x_12 - x_22 with x_11 = 1: the maximum is 1/4, and no row bounds the trace."""
    A = np.zeros((1, 4))
    A[0, 0] = 1.0
    return Program([0, 0.5, 0.5, -1.0], A, [1.0], (Block("psd", 2),), maximise=True)


def test_an_assumed_trace_is_in_the_first_line():
    answer = certify(unbounded_trace(), None, [0.25 - 1e-6], trace_bound=4.0)
    assert answer.proved
    assert 0.25 <= answer.bound <= 0.251
    assert "for points within the given trace bound 4: the maximum is at most" in line(answer)


def two_orthants():
    """min -x_1 - x_3 with x_1 + x_2 = 1 and x_3 + x_4 = 1: the minimum is -2."""
    A = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    blocks = (Block("orthant", 2), Block("orthant", 2))
    return Program([-1.0, 0.0, -1.0, 0.0], A, [1.0, 1.0], blocks)


CORNERS = (np.array([1.0, 0.0]), np.array([1.0, 0.0]))


def test_an_assumed_trace_is_of_each_block_not_of_all_together():
    answer = certify(two_orthants(), CORNERS, [-0.5, -0.5], trace_bound=1.0)
    assert answer.bound <= -2.0 <= answer.attained
    assert answer.bound == pytest.approx(-2.0)
    assert "for points within the given trace bound 1: the minimum is at least" in line(answer)


def test_a_point_refutes_an_assumed_trace():
    answer = certify(two_orthants(), CORNERS, [-0.5, -0.5], trace_bound=0.25)
    assert not answer.proved
    assert answer.bound == -np.inf
    assert answer.attained == pytest.approx(-2.0)
    assert line(answer).startswith("proved, without assumptions: the minimum is at most -1.99")
    assert "the assumption is false" in answer.verdict
    assert "within the given trace bound 0.25" in answer.verdict


def test_proofs_that_contradict_each_other_prove_nothing(monkeypatch):
    from condal.problems.conic import answers

    monkeypatch.setattr(answers, "proved_lower_bound", lambda form, y: -1.0)
    answer = certify(two_orthants(), CORNERS, [-1.0, -1.0])
    assert not answer.proved
    assert np.isnan(answer.attained)
    assert answer.verdict == "nothing is proved: the proofs of the two bounds contradict each other"


def test_what_is_missing_is_named():
    assert certify(program(), X).missing == ("a dual y",)
    assert certify(program(), None, Z + 1e-9).missing == ("a point X",)
    nothing = certify(program())
    assert not nothing.proved
    assert line(nothing) == "nothing is proved; missing: a point X, a dual y"
    attained = certify(program(), INSIDE)
    assert line(attained) == "proved, without assumptions: the maximum is at least 1.399999999"
    assert attained.verdict.endswith("no bound is proved; missing: a dual y")
    assert not attained.proved
    assert attained.excess(1.0) == "no bound is proved"
    assert nothing.excess(1.0) == "there is no point to measure a gap of"


def test_an_infeasible_point_has_its_price():
    far = (np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros(1))  # x_22 = 4, where 2 is asked for
    answer = certify(program(), far, Z + 1e-9)
    assert answer.infeasibility == pytest.approx(2.0 / np.sqrt(5.0))
    assert answer.price == pytest.approx(2 * Z[1] / 2.0)
    assert np.isnan(answer.attained)
    outside = (np.array([[1.0, 2.0], [2.0, 2.0]]), np.zeros(1))  # not psd
    answer = certify(program(), outside, Z + 1e-9)
    assert answer.infeasibility > 0.1
    assert answer.price > 0.1


def test_a_factor_is_a_point():
    answer = certify(program(), **factor([[1.0], [ROOT]], [1.0]), y=Z + 1e-8)
    assert answer.objective == pytest.approx(ROOT)
    assert answer.infeasibility < 1e-12


def test_negative_weights_of_long_columns_are_infeasible():
    """diag(-1, 2) as a factor: the weight of -1e-12 belongs to a column of norm 1e6."""
    trace = Program(np.eye(2).ravel(), [np.eye(2).ravel()], [1.0], [Block("psd", 2)])
    X = LowRank(np.array([[1e6, 0.0], [0.0, 1.0]]), np.array([-1e-12, 2.0]))
    answer = certify(trace, [X], [1.0])
    assert answer.infeasibility >= 1.0
    assert answer.excess(1e-6) != ""


def test_infeasible_programs_are_proved_by_their_dual():
    A = np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 1.0]])  # x_11 = 1, tr x = 0
    impossible = Program(np.zeros(4), A, [1.0, 0.0], (Block("psd", 2),), maximise=True)
    answer = certify(impossible, None, [-1.0, 1.0])
    assert (answer.status, answer.proved, answer.bound) == ("infeasible", True, -np.inf)
    assert line(answer) == "proved, without assumptions: no point is feasible, by y"


def test_unbounded_programs_are_proved_by_their_point():
    ray = Program(np.eye(2).ravel(), [[0, 1.0, 1.0, 0]], [0.0], (Block("psd", 2),), maximise=True)
    answer = certify(ray, (np.eye(2),), [0.0])
    assert (answer.status, answer.proved) == ("unbounded", True)
    assert line(answer) == "proved, without assumptions: the objective is unbounded, along X"


def factor(U, weights):
    """X of `program` with a factor as its first block."""
    return {"X": (LowRank(np.array(U), np.array(weights)), np.zeros(1))}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"X": X[:1]}, "X must have 2 blocks; got 1"),
        ({"X": (np.eye(3), np.zeros(1))}, r"block 0 of X must have shape \(2, 2\); got \(3, 3\)"),
        ({"X": (np.full((2, 2), np.nan), np.zeros(1))}, "block 0 of X has the value nan"),
        ({"y": np.zeros(3)}, "y must have size 2; got 3"),
        (factor([[1j], [0]], [1.0]), "the factor of block 0 of X is complex"),
        (factor([[np.nan], [0]], [1.0]), "the factor of block 0 of X has the value nan"),
        (factor([[1.0], [0]], [np.inf]), "the vector of weights of block 0 of X has the value inf"),
        (factor([[1.0], [0]], [1.0, 1.0]), "block 0 of X must have a weight for each of its 1"),
    ],
)
def test_answers_to_other_programs_are_refused(given, text):
    with pytest.raises(ProblemError, match=text):
        certify(program(), **given)
