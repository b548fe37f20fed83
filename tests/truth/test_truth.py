"""The claims about random problems of every family are true. `make soak` tries thousands more."""

from typing import Any

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the rivals come by CVXPY 1.9")

import condal
from condal import domains, nonsmooth, problems, sets, smooth
from condal.problem import problem_of
from truth.families import FAMILIES, REGIONS, listed_regions
from truth.templates import random_case
from truth.trial import ATTEMPTS, attempt, of_case

pytestmark = pytest.mark.usefixtures("processor_clock")

EACH = 8  # problems per family
MORE = {"conic": 60}  # they are random in more ways
SECONDS = 1.0
MADE_BY_OTHERS = {"total_variation"}  # functions that return one of the other classes
WHERE = {  # what to do for a class that no family has
    domains: "list its Region in tests/laws/domains.py",
    sets: "add a Kept to tests/truth/constraints.py, and let `holding` choose it",
    nonsmooth: "add a Term to tests/truth/terms.py, and let `random_term` choose it",
    smooth: "add a Cost to tests/truth/costs.py, and let `random_smooth` choose it",
    problems: "add a family to MODELS in tests/truth/models.py",
}


@pytest.mark.parametrize("family", ATTEMPTS)
def test_nothing_false_is_said_of(family: str) -> None:
    each = MORE.get(family, EACH)
    outcomes = [attempt(family, seed, SECONDS) for seed in range(each)]
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    faults = [f"{'; '.join(outcome.wrong)}: {outcome.command}" for outcome in wrong]
    assert faults == []
    assert sum(outcome.judged for outcome in outcomes) >= each // 2  # enough results must be judged
    assert sum(outcome.solved for outcome in outcomes) >= each // 4


def pieces(whole: Any) -> list[Any]:
    """Itself, and those it is made of."""
    all_pieces = [whole]
    for part in getattr(whole, "parts", ()):
        all_pieces += pieces(part)
    return all_pieces


def test_every_domain_set_and_function_is_among_them() -> None:
    seen: set[str] = set()
    for family, made in FAMILIES.items():
        for seed in range(40 if family in REGIONS else 4):
            model = made(seed).model
            problem = problem_of(model)
            kinds = [problem.f, *pieces(problem.X), *pieces(problem.h), model]
            seen |= {type(kind).__name__ for kind in kinds}
    for module, advice in WHERE.items():
        names = {name for name in module.__all__ if name not in MADE_BY_OTHERS}
        if module is problems:
            names = {name for name in names if hasattr(getattr(problems, name), "problem")}
        missing = [f"{module.__name__}.{name}: {advice}" for name in sorted(names - seen)]
        assert missing == []


def test_a_domain_that_is_only_listed_in_the_laws_has_a_family(monkeypatch) -> None:
    fewer = {name: made for name, made in REGIONS.items() if name != "permutahedron"}
    (name,) = new = listed_regions(fewer)
    assert name == "Permutahedron"

    def made(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        return random_case(name, new[name](rng), rng)

    monkeypatch.setitem(FAMILIES, name, made)
    monkeypatch.setitem(ATTEMPTS, name, of_case(name))
    outcomes = [attempt(name, seed, SECONDS) for seed in range(EACH)]
    assert [outcome.wrong for outcome in outcomes if outcome.wrong] == []
    assert sum(outcome.judged for outcome in outcomes) >= EACH // 2


def test_the_numbers_of_a_seed_are_the_same_again() -> None:
    first, second = (attempt("spectrahedron", 3).findings for _ in range(2))
    assert (first.story, first.said, first.wrong) == (second.story, second.said, second.wrong)


def test_a_fault_comes_with_the_command_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("nothing")

    monkeypatch.setattr(condal, "solve", broken)
    outcome = attempt("simplex", 5)
    assert outcome.findings.said == "raised"
    assert outcome.wrong[0].startswith("ZeroDivisionError: nothing")
    assert outcome.command.endswith("-m truth 'simplex' 5")


def test_problems_are_not_all_of_one_kind() -> None:
    """Feasible, infeasible by a margin, without a point inside, scaled by far."""
    cases = [FAMILIES["spectrahedron"](seed) for seed in range(100)]
    assert sum(case.margin > 0 for case in cases) >= 5
    assert sum(np.isfinite(case.upper) for case in cases) >= 10
    kinds = {case.story.split(":")[0].split()[0] for case in cases}
    assert kinds >= {"slater", "cone", "boundary", "degenerate", "infeasible", "composite", "free"}
