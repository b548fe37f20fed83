"""Where objective and bound enclose the optimum, what is printed of them does, too."""

import re
from dataclasses import replace

import numpy as np
import pytest

from condal.certificates.certificate import Certificate
from condal.certificates.history import History, Row
from condal.cli import result_text
from condal.linalg.rounding import Proof
from condal.report import figures, words
from condal.report.progress import last_line
from condal.result import Result, Status

NUMBER = r"-?[0-9][0-9,]*\.?[0-9]*(?:e[-+]?[0-9]+)?"


def solved(objective, bound):
    """A result with a bracket, and a history that shows on which side the bound is."""
    history, nan = History(), np.nan
    history.append(Row(1, objective, 2 * bound - objective, 1, 0, 0, 1, nan, nan, nan, 1, 1, 0.1))
    proved = Certificate(objective, bound, 0.0, "a proof", price=0.0, inside=True, bracket=True)
    return Result(np.eye(1), np.zeros(1), Status.SOLVED, proved, history, 0.1, 1, 1, tol=1e-3)


def printed(result):
    """Yield each objective and each bound that is printed, by place."""
    rows = dict(result.rows())
    yield "rows", rows["objective"], rows["bound"]
    terminal = dict(result_text.summary(result, []))
    yield "terminal", terminal["objective"], None
    yield "tile", words.objective_of(result), words.bound_of(result)
    texts = " ".join(words.proof(result))
    yield "words", re.search(r"has the objective (.*?)\. ", texts)[1], words.bound_of(result)
    drawn = figures.of_solve(result.trace(), "one")[0].svg
    ended = re.search(rf"final objective ({NUMBER}), bound ({NUMBER})", drawn)
    yield "figure", ended[1], ended[2]


def value(text):
    return float(re.match(NUMBER, text)[0].replace(",", ""))


PAIRS = [
    (1.00000000004999, 1.00000000009999),
    (12345.67890123, 12345.67890456),
    (-2.71828182845, -2.71828182801),
    (0.000123456789123, 0.000123456789456),
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_printed_bracket_contains_the_true_one(pair, sense):
    objective, bound = sense * pair[0], sense * pair[1]
    for place, low, high in printed(solved(objective, bound)):
        assert sense * value(low) <= sense * objective, place
        assert high is None or sense * value(high) >= sense * bound, place


def test_a_bound_that_an_infeasible_point_exceeds_is_rounded_to_its_own_side():
    """The objective of an infeasible x is on the other side of the bound of a maximisation."""
    proved = Certificate(800.0, 547.280257, 0.3, "a proof", price=0.3)
    far = replace(solved(800.0, 547.280257), certificate=proved, maximise=True)
    assert last_line(far).split()[2] == "547.2803"
    assert float(words.bound_of(far)) >= far.bound
    before = History()  # the first bounds are infinite, which tells the side of a saved result
    nan = np.nan
    before.append(Row(1, 800.0, np.inf, np.inf, 0, 0, 1, nan, nan, nan, 1, 1, 0.1))
    assert replace(far, maximise=None, history=before).bounded_above


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNBOUNDED])
def test_a_problem_without_an_optimum_shows_neither_objective_nor_gap(status):
    proof = Proof(1.0, "a separation") if status is Status.INFEASIBLE else None
    result = replace(solved(1.0, 2.0), status=status, infeasible=proof)
    shown = {name for name, _ in result.rows()}
    assert shown.isdisjoint({"objective", "bound", "gap", "infeasibility", "price", "optimum"})
    assert "proof" in shown
    rows = " ".join(repr(result).partition("\n")[2].split())
    assert "objective" not in rows.replace(status.value, "")
