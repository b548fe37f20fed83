"""A resumed solve is the solve that was not interrupted: to the last bit, for each method, storage
and way to stop."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bits import same

import condal
import condal_lab
from condal import Status
from condal.driver.memory import estimate, in_all
from condal.errors import FormatError, ProblemError
from condal.methods.choice import Choice
from condal.methods.state import State
from condal.problems import max_cut, theta
from condal.runtime.meter import Stopper
from known import PLANTED, random_graph
from laws.spectra import STORAGES
from method_cases import CASES

SECONDS = condal.History.columns.index("seconds")


def told(result: condal.Result) -> tuple[Any, ...]:
    """All that a result says but for times."""
    table = np.delete(result.history.table, SECONDS, axis=1)
    certificate, proof = result.certificate, result.infeasible
    return (
        result.x,
        result.y,
        result.status.name,
        certificate,
        table,
        result.oracle_calls,
        result.matvecs,
        result.method,
        result.why,
        result.reason,
        proof,
        result.separator,
        result.tangent,
    )


def assert_same(a: condal.Result, b: condal.Result) -> None:
    for one, other in zip(told(a), told(b), strict=True):
        assert same(one, other)


def in_parts(path: Path, problem: Any, method: Any, cuts: tuple[int, ...], **options: Any) -> Any:
    """The result of a solve that is stopped after so many iterations, and then after so many."""
    first, *others = cuts
    condal.solve(problem, method, max_iters=first, checkpoint=path, **options)
    for more in others[:-1]:
        condal.resume(path, problem, max_iters=more)
    return condal.resume(path, problem, max_iters=others[-1])


@pytest.mark.parametrize("name", CASES)
def test_a_resumed_solve_is_that_of_one_that_was_left_alone(name, tmp_path):
    case = CASES[name]
    problem = case.known().problem
    whole = condal.solve(problem, case.method, tol=1e-9, max_iters=23)
    parts = in_parts(tmp_path / "a", problem, case.method, (4, 1, 18), tol=1e-9)
    assert_same(parts, whole)


@pytest.mark.parametrize("name", STORAGES)
def test_so_it_is_with_a_given_storage(name, tmp_path):
    problem, options = PLANTED["sdp-equal"]().problem, {"tol": 1e-9, "seed": 3}
    x, again = (STORAGES[name](problem.X.n) for _ in range(2))
    whole = condal.solve(problem, condal.CGAL(), max_iters=9, storage=x, **options)
    parts = in_parts(tmp_path / "a", problem, condal.CGAL(), (4, 5), storage=again, **options)
    assert_same(parts, whole)


GRAPH = random_graph(40, 4)


@dataclass(frozen=True)
class Resting:
    """CGAL that comes to rest after some iterations."""

    k: int
    method: condal.CGAL = field(default_factory=condal.CGAL)
    name: str = "resting"
    keeps: str = "x"

    def start(self, problem: Any, warm: Any = None) -> State:
        return self.method.start(problem, warm)

    def iterates(self, problem: Any, x: Any, start: Any = None) -> Any:
        for state in self.method.iterates(problem, x, start):
            yield replace(state, last=state.k >= self.k)


def hand_over(monkeypatch, *tried: Choice) -> None:
    """The default method is these, one after the other."""
    monkeypatch.setattr("condal.driver.memory.choices", lambda *_, **__: tried)


@pytest.mark.parametrize("cuts", [(3, 97), (5, 1, 94), (50, 50)])
def test_one_that_hands_over_from_method_to_method_goes_on(cuts, monkeypatch, tmp_path):
    from condal.io.checkpoint import known

    name = known.name_of(Resting)
    monkeypatch.setitem(known.MODULES, name, Resting.__module__)
    hand_over(
        monkeypatch,
        Choice(Resting(5), "first", 10),
        Choice(condal.CGAL(), "stalls", 20),
        Choice(condal.CGAL(eta=condal.methods.rules.LineSearch()), "last"),
    )
    problem = max_cut(GRAPH).problem
    whole = condal.solve(problem, tol=1e-9, max_iters=100)
    assert whole.method == "resting, then cgal, then cgal-ls"
    assert_same(in_parts(tmp_path / "a", problem, None, cuts, tol=1e-9), whole)


def test_the_default_goes_on_to_the_proof(tmp_path):
    for i, model in enumerate((max_cut(GRAPH), theta(random_graph(12, 4)))):
        whole = condal.solve(model, tol=1e-5)
        assert whole.status is Status.SOLVED
        parts = in_parts(tmp_path / str(i), model, None, (3, 10_000), tol=1e-5)
        assert_same(parts, whole)


def test_an_infeasible_one_goes_on_to_its_proof(tmp_path):
    A, K = condal.Diagonal(3), condal.Equal([1.0, 1.0, 2.0])
    problem = condal.Problem.of(condal.Linear(np.eye(3)), condal.Spectrahedron(3, 3.0), A, K)
    whole = condal.solve(problem, condal.CGAL())
    assert whole.status is Status.INFEASIBLE
    parts = in_parts(tmp_path / "a", problem, condal.CGAL(), (5, 10_000))
    assert_same(parts, whole)
    assert_same(condal.resume(tmp_path / "a", problem), whole)  # it is known, and not done again


def test_one_that_is_solved_is_told_again_and_goes_on_to_a_smaller_tol(tmp_path):
    model = max_cut(GRAPH)
    solved = condal.solve(model, condal.CGAL(), tol=1e-2, checkpoint=tmp_path / "a")
    assert_same(condal.resume(tmp_path / "a", model), solved)
    further = condal.resume(tmp_path / "a", model, tol=3e-3)
    assert further.status is Status.SOLVED
    assert further.gap <= 3e-3
    assert further.iterations > solved.iterations
    assert further.tol == 3e-3


def test_a_solved_one_of_several_methods_is_told_again_with_its_own_proof(monkeypatch, tmp_path):
    """Not with what the method before had proved."""
    hand_over(
        monkeypatch,
        Choice(condal.CGAL(), "stalls", 5),
        Choice(condal.methods.LowRankCGAL(aim=1e-4), "solves"),
    )
    model = max_cut(GRAPH)
    solved = condal.solve(model, tol=1e-4, checkpoint=tmp_path / "a")
    assert solved.status is Status.SOLVED
    assert solved.method == "cgal, then lowrank"
    again = condal.resume(tmp_path / "a", model)
    assert again.gap <= 1e-4
    assert_same(again, solved)


def test_one_that_is_stopped_before_the_next_method_has_a_state_goes_on(monkeypatch, tmp_path):
    class AtNewton(Stopper):
        """Asks to stop in the first step of the interior-point method."""

        @property
        def stopped(self) -> bool:
            frame = sys._getframe(1)
            while frame.f_globals["__name__"] == "condal.runtime.meter":  # asks others
                frame = frame.f_back
            return frame.f_globals["__name__"] == "condal.methods.interior.engine"

    hand_over(
        monkeypatch,
        Choice(condal.CGAL(), "stalls", 5),
        Choice(condal.methods.InteriorPoint(), "solves"),
    )
    model, path = max_cut(GRAPH), tmp_path / "a"
    whole = condal.solve(model, tol=1e-6)
    part = condal.solve(model, tol=1e-6, checkpoint=path, stopper=AtNewton())
    assert (part.status, part.method) == (Status.INTERRUPTED, "cgal, then interior-point")
    assert_same(condal.resume(path, model), whole)


def test_a_claim_without_its_proof_is_not_believed(tmp_path):
    from condal.io.checkpoint.file import read, write

    model, path = max_cut(GRAPH), tmp_path / "a"
    condal.solve(model, condal.CGAL(), tol=0.1, checkpoint=path)
    contents = read(path)
    ledger = contents.value["certification"]["ledger"]
    answer = ledger["certified"]
    claim = replace(answer.certificate, bound=answer.certificate.objective)
    ledger["certified"] = replace(answer, certificate=claim, proof=None)
    write(path, contents.about, contents.value)
    on = condal.resume(path, model, tol=1e-6, max_iters=2)
    assert on.status is Status.MAX_ITERS
    assert on.gap > 1e-3


def test_the_next_method_keeps_x_in_the_memory_that_there_was(monkeypatch, tmp_path):
    hand_over(
        monkeypatch,
        Choice(condal.CGAL(), "stalls", 5),
        Choice(condal.CGAL(eta=condal.methods.rules.LineSearch()), "last"),
    )
    problem = max_cut(GRAPH).problem
    beside = in_all(problem, condal.CGAL()) - sum(estimate(problem, condal.CGAL()).values())
    options = {"tol": 1e-9, "max_memory": beside + 100_000}
    whole = condal.solve(problem, max_iters=60, **options)
    assert whole.method == "cgal, then cgal-ls"
    assert_same(in_parts(tmp_path / "a", problem, None, (3, 57), **options), whole)


class AtEachStop(Stopper):
    """Asks to stop at the i-th time that it is looked at."""

    def __init__(self, i: int) -> None:
        super().__init__()
        self.left = i

    @property
    def stopped(self) -> bool:
        self.left -= 1
        return self.left < 0


def resumed_wherever_it_stops(problem, method, folder, places, **limits) -> int:
    """The number of stops that leave a checkpoint; each goes on to the end of the whole solve."""
    whole, stops = condal.solve(problem, method, **limits), 0
    for i in places:
        path = folder / str(i)
        first = condal.solve(problem, method, stopper=AtEachStop(i), checkpoint=path, **limits)
        if first.status is not Status.INTERRUPTED:
            assert same(told(first)[4], told(whole)[4])  # its last proof may have been cut short
            break
        left = limits["max_iters"] - len(first.history)
        if not len(first.history):
            assert not path.exists()
        elif left:
            stops += 1
            on = condal.resume(path, problem, max_iters=left)
            assert same(told(on)[:5], told(whole)[:5])
    return stops


LOOPS = ["cgal", "corrective", "aupd", "lowrank", "accelerated", "splitting", "primal-dual"]


@pytest.mark.parametrize("name", [*LOOPS, "cgs", "ial"])
def test_a_stop_at_any_product_leaves_a_checkpoint_that_goes_on(name, tmp_path):
    """Wherever an iteration is given up, x is that of the state before it."""
    places = (*range(0, 60, 7), 200, 500)
    problem, method = CASES[name].known().problem, CASES[name].method
    resumed_wherever_it_stops(problem, method, tmp_path, places, tol=1e-7, max_iters=12)


@pytest.mark.parametrize(
    "method",
    [
        condal.CGAL(1.0),
        condal.methods.corrective(),
        condal_lab.methods.IAL(eta=condal.methods.rules.LineSearch()),
        condal_lab.methods.CGS(),
    ],
    ids=lambda method: method.name,
)
def test_so_it_does_where_the_objective_takes_products(method, tmp_path):
    """f(x) is asked for after the step: by then x has moved."""
    n, seed = 12, np.random.default_rng(0)
    B = seed.standard_normal((n, n))
    Q = B @ B.T
    f = condal.Quadratic(Q, -Q @ np.full(n, 1 / n))
    problem = condal.Problem.of(f, condal.Simplex(n))
    limits = {"tol": 1e-9, "max_iters": 6}
    assert resumed_wherever_it_stops(problem, method, tmp_path, range(30), **limits) >= 10


def test_a_checkpoint_every_iteration_changes_nothing(tmp_path):
    model = max_cut(GRAPH)
    whole = condal.solve(model, condal.CGAL(), tol=1e-9, max_iters=20)
    kept = condal.solve(
        model, condal.CGAL(), tol=1e-9, max_iters=20, checkpoint=tmp_path / "a", every_seconds=0
    )
    assert_same(kept, whole)
    assert (tmp_path / "a.previous").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.previous"]


def test_one_that_is_there_is_not_overwritten(tmp_path):
    model, path = max_cut(GRAPH), tmp_path / "a"
    condal.solve(model, condal.CGAL(), max_iters=3, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(FormatError, match=r"exists already and is not overwritten: resume it"):
        condal.solve(model, condal.CGAL(), max_iters=3, checkpoint=path)
    assert path.read_bytes() == before


def test_a_method_of_another_makes_no_checkpoint_and_says_so(tmp_path):
    with pytest.raises(ProblemError, match=r"build the method from condal's own rules"):
        condal.solve(max_cut(GRAPH), Resting(3), checkpoint=tmp_path / "a")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"checkpoint": 3}, "checkpoint takes the path of a file, such as 'run.checkpoint'; got 3"),
        ({"checkpoint": "a", "every_seconds": -1}, "every_seconds must be a number of seconds"),
        ({"checkpoint": "a", "every_seconds": np.nan}, "every_seconds must be a number of seconds"),
        ({"checkpoint": "no/such/folder/a"}, "cannot be written: No such file or directory"),
    ],
)
def test_a_bad_checkpoint_is_refused_before_any_work(options, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ProblemError, FormatError), match=text):
        condal.solve(max_cut(GRAPH), **options)
    assert not any(tmp_path.iterdir())


def test_where_a_disk_is_full_the_solve_goes_on_and_says_so_once(tmp_path, monkeypatch):
    """The last good checkpoint stays."""
    model, path = max_cut(GRAPH), tmp_path / "a"
    whole = condal.solve(model, condal.CGAL(), tol=1e-9, max_iters=20)
    from condal.driver import checkpoint as keeper

    true, written = keeper.write, []

    def write(*given: Any) -> None:
        if len(written) >= 3:
            raise FormatError("cannot be written: No space left on device; make room", path="a")
        written.append(given)
        true(*given)

    monkeypatch.setattr(keeper, "write", write)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        kept = condal.solve(
            model, condal.CGAL(), tol=1e-9, max_iters=20, checkpoint=path, every_seconds=0
        )
    assert_same(kept, whole)
    assert [str(one.message) for one in seen] == [
        "a: cannot be written: No space left on device; make room"
    ]
    monkeypatch.undo()
    assert_same(condal.resume(path, model, max_iters=17), whole)


def test_a_solve_that_ends_in_an_error_keeps_the_last_good_one(tmp_path):
    """NaN from an operator in the midst of a solve."""
    n, calls = 30, []
    C = np.diag(np.arange(n, dtype=float))

    def matvec(v: Any) -> Any:
        calls.append(1)
        return np.full(n, np.nan) if len(calls) == 300 else C @ v

    from scipy.sparse.linalg import LinearOperator

    def problem() -> condal.Problem:
        operator = LinearOperator((n, n), matvec=matvec, dtype=np.float64)
        f = condal.Linear(condal.operators.Symmetric(n, operators=(operator,)))
        A, K = condal.Diagonal(n), condal.Equal(np.full(n, 1 / n))
        return condal.Problem.of(f, condal.Spectrahedron(n), A, K)

    path = tmp_path / "a"
    ended = condal.solve(problem(), condal.CGAL(), tol=1e-9, checkpoint=path, every_seconds=0)
    assert ended.status is Status.NUMERICAL_ERROR
    on = condal.resume(path, problem(), max_iters=5)
    assert on.status is Status.MAX_ITERS
    assert on.iterations == ended.iterations + 5
