"""What a run shows as proved is proved, and what it returns is never worse."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import pytest

import condal
from condal.driver.certification import Certifier
from condal.report.notebook import drawn
from condal.report.progress import LEGEND
from condal.result import Status
from known import random_graph


def inexact():
    """A problem on which estimates of inexact oracles are better than what is proved."""
    return condal.problems.max_cut(random_graph(300, 10))


def theta():
    return condal.problems.theta(random_graph(30, 6))


CASES = {
    "max-cut": (inexact, condal.CGAL),
    "theta": (theta, condal.CGAL),
    "theta by splitting": (theta, condal.methods.Splitting),
}


@cache
def whole(name, tol):
    model, method = CASES[name]
    return condal.solve(model(), method(), tol=tol, max_iters=3000).history


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_a_stopped_run_is_never_worse_than_what_it_showed_as_proved(name, tol):
    model, method = CASES[name]
    model, last = model(), len(whole(name, tol))
    for k in sorted({1, 2, last // 3, last // 2, (9 * last) // 10, last - 1, last}):
        if k < 1:
            continue
        stopped = condal.solve(model, method(), tol=tol, max_iters=k)
        assert stopped.certificate.error <= stopped.history["proved"].min()
        assert condal.saved.verify(model, stopped).proved
        called = condal.solve(model, method(), tol=tol, callback=lambda row, k=k: row.k >= k)
        assert called.certificate.error <= called.history["proved"].min()
        assert called.status in (Status.INTERRUPTED, Status.SOLVED)


@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_only_improves(name):
    proved = whole(name, 1e-3)["proved"]
    assert (np.diff(np.nan_to_num(proved, posinf=1e300)) <= 0).all()


def test_a_run_that_gets_worse_returns_its_best_pair():
    """The pair of a tolerance that was almost reached outlives the states after it."""
    seen = []

    def stop(row):
        seen.append(row)
        return np.isfinite(row.proved) and row.k > 1.2 * next(
            other.k for other in seen if np.isfinite(other.proved)
        )

    result = condal.solve(theta(), condal.CGAL(), tol=2e-3, callback=stop)
    assert result.certificate.error <= seen[-1].proved


def test_history_gap_and_progress_never_show_an_estimate_as_the_proved_gap():
    """3.5e-5 was shown as the proved gap where 9.68e-5 was proved."""
    stream = io.StringIO()
    result = condal.solve(inexact(), tol=1e-4, callback=condal.Progress(stream))
    history = result.history
    assert result.status is Status.SOLVED
    # No row claims more than was proved when it was shown, which the result is not worse than.
    assert history["proved"].min() >= result.certificate.error
    header, legend, *rows = stream.getvalue().splitlines()
    assert legend == LEGEND
    assert "~ marks estimates" in legend
    names = header.split()
    for line in rows:
        cells = dict(zip(names, line.replace(" s", "s").split(), strict=True))
        assert cells["gap"][0] in "~-"
        assert cells["bound"][0] in "~-"
        assert not cells["proved"].startswith("~")
    assert "~gap" in repr(history)
    assert "~bound" in repr(history)
    assert "~ marks estimates" in repr(history)
    html = history._repr_html_()
    assert "~gap" in html
    assert "~ marks estimates" in html
    bars = drawn(history.last, 1.0)
    assert f"~{history.last.gap:.1e}" in bars
    assert "~ marks estimates" in bars


def test_a_proposed_dual_that_proves_less_than_before_does_not_replace_a_better_proof(monkeypatch):
    """What a proposed dual once proved may be out of reach of the time that is left."""
    model, best = inexact(), Certifier.best
    alone = condal.solve(model, condal.CGAL(), tol=1e-6, max_iters=30)

    def with_a_proposal(self, *args):
        ledger = self.ledger
        ledger.proposed_bound = self.problem.sense * np.inf
        ledger.proposed_dual = 1e3 * np.arange(self.problem.A.size)
        return best(self, *args)

    monkeypatch.setattr(Certifier, "best", with_a_proposal)
    result = condal.solve(model, condal.CGAL(), tol=1e-6, max_iters=30)
    assert np.isfinite(alone.certificate.error)
    assert result.certificate.error == alone.certificate.error
