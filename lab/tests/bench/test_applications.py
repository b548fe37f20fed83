"""The applications, tiny: condal and the solvers that an instance brings come to the same."""

from dataclasses import replace
from functools import partial

import pytest

from condal_lab.bench import applications, truths
from condal_lab.bench.cases import BenchCase, Set
from condal_lab.bench.results import Job
from condal_lab.bench.sets import SETS
from condal_lab.bench.worker import work

TINY = {
    "completion": partial(applications.small_completion, 8, 10, 50),
    "theta": partial(applications.lovasz, 15, 30),
    "assignment": partial(applications.random_assignment, 4),
    "regression": partial(applications.regression, 40, 10, "squares"),
    "absolute": partial(applications.regression, 40, 10, "absolute"),
    "portfolio": partial(applications.assets, 40, 4),
    "matching": partial(applications.graphs, 6),
    "map": partial(applications.field_of, 3, 2),
    "angles": partial(applications.angles, 10, 5.0),
    "poses": partial(applications.poses, 5),
    "state": partial(applications.state, 2, 100, "squares"),
    "likelihood": partial(applications.state, 2, 100, "likelihood"),
    "trace": partial(applications.trace_norm, 20, 5, 4),
    "sparse-pca": partial(applications.component, 10),
    "communities": partial(applications.blocks, 15),
}
KNOWN = {
    "phase": (partial(truths._phase, 4), truths.SIGNAL, 1e-2),
    "ratings": (
        lambda: truths.ratings(truths.Ratings.split(*truths.star_ratings(30, 40, 400))),
        truths.TEST_ERROR,
        0.3,
    ),
    "squares": (partial(truths._state, 3, 100, 20, "squares"), truths.FIDELITY, 0.5),
    "likelihood": (partial(truths._state, 3, 100, 20, "likelihood"), truths.FIDELITY, 0.5),
}


def run(case, solver, monkeypatch, tol=1e-3):
    monkeypatch.setitem(SETS, "tiny", Set("tiny", "tiny instances", (case,)))
    return work(Job("tiny", case.name, solver, tol, 0.1 * tol, 60.0, 8 << 30))


@pytest.mark.parametrize("name", TINY)
def test_condal_and_its_rivals_come_to_the_same(name, monkeypatch):
    case = BenchCase(name, name, 1e-3, TINY[name])
    ours = run(case, "condal", monkeypatch, tol=1e-5)
    assert (ours.outcome, ours.certified) == ("solved", "x, y")
    known = replace(case, optimum=ours.objective)
    for solver in TINY[name]().solvers:
        if solver == "HiGHS":
            pytest.importorskip("highspy")  # an old CVXPY does not bring it
        its = run(known, solver, monkeypatch)
        assert its.outcome == "solved", (solver, its.reason, its.error)
        assert its.certified in ("x, optimum", "x, our y")


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_recovered_is_near_the_truth(name, monkeypatch):
    build, quality, most = KNOWN[name]
    case = BenchCase(name, name, 1e-3, build, quality=quality)
    ours = run(case, "condal", monkeypatch)
    assert ours.outcome == "solved"
    for solver in set(build().solvers) - {"condal"}:
        its = run(case, solver, monkeypatch)
        assert (its.outcome, its.objective) == ("unproved", None) or its.objective != its.objective
        assert its.quality == pytest.approx(ours.quality, abs=most)


def test_a_program_that_does_not_fit_is_refused(monkeypatch):
    case = SETS["applications"].case("phase-10000")
    its = run(case, "SCS", monkeypatch)
    assert (its.outcome, its.reason) == ("refused", "its matrix alone is 192,000 GB")
