"""`solve` and `resume` on many ranks: the same driver and the same method, on owned arrays."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from condal.distributed.domain import DistributedSpectrahedron
from condal.distributed.parts import DistributedKeeper
from condal.distributed.sketch import DistributedSketch
from condal.distributed.team import Team
from condal.driver.checkpoint_writer import EVERY_SECONDS, Checkpoint
from condal.driver.run import Callback, Run
from condal.driver.run_record import RunRecord
from condal.driver.session import finish, new_checkpoint, resumed_run
from condal.driver.stop import Stop
from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.methods import CGAL
from condal.methods.choice import Choice
from condal.methods.rules import Corrective, Smoothed
from condal.problem import Model, Problem, problem_of
from condal.result import Result, Row
from condal.runtime.arguments import require_whole
from condal.runtime.cancellation import Stopper

RANK = 10
TOL = 1e-1


def solve(
    problem: Problem | Model,
    method: CGAL | None = None,
    *,
    R: int = RANK,
    tol: float = TOL,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    stopper: Stopper | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    every_seconds: float = EVERY_SECONDS,
) -> Result:
    """Minimise f(x) + h(Ax) over x in X to a proved relative gap and infeasibility of tol, on all
    ranks together: each of them calls this, at the same place and with the same options.

    Every rank gets the same result, but for x and y, which are in its own rows: x = U diag(w) U',
    with U and y as `ShardedArray` arrays.

    Parameters
    ----------
    problem : a problem whose pieces are distributed, such as that of `condal.distributed.max_cut`.
    method : CGAL() or one of its variants.
    R : the rank of the sketch that is kept of x: n x R numbers on all ranks together.
    tol : what is to be proved; 1e-1, as people ask of problems of this size, unless given.
    callback, stopper, max_seconds : those of the first rank count; all do what it decides.
    checkpoint, every_seconds : a new folder, to be written every so many seconds and at the end:
        each rank writes its own rows. `condal.distributed.resume` goes on from it, on as many
        ranks as there are by then.
    """
    whole, method = problem_of(problem), CGAL() if method is None else method
    team = team_of(whole)
    with team.solving(), ExitStack() as stack:
        stop = Stop(tol, max_iters, max_seconds)
        _require_images_alone(method)
        require_whole(seed, "seed", least=0)
        require_whole(R, "R")
        said = {"R": R, "tol": tol, "max_iters": max_iters, "seed": seed, "method": repr(method)}
        said["checkpoint"] = _path(checkpoint)
        team.require_alike()
        team.require_same({**said, **_sizes(whole)}, "what they were asked to do")
        file, held = (checkpoint, every_seconds), (method, None)
        options = {"tol": float(tol), "seed": int(seed), "max_bytes": None}
        writer = new_checkpoint(stack, DistributedKeeper, *file, whole, held, options)
        run = Run(
            whole,
            stop,
            RunRecord((Choice(method, "it was asked for"),)),
            seed=seed,
            storage=DistributedSketch(_sizes(whole)["n"], R, team=team, seed=seed),
            writer=writer,
            stopper=stopper,
        )
        dual = getattr(problem, "first_dual", None)
        if dual is not None:
            warm = method.suggested(lambda: run.scaling.normalised_dual(dual()))
            if warm is not None:
                run.start_from(warm)
        return _gone(run, callback, stack)


def resume(
    checkpoint: PathLike | Checkpoint,
    problem: Problem | Model,
    *,
    tol: float | None = None,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    stopper: Stopper | None = None,
    every_seconds: float = EVERY_SECONDS,
) -> Result:
    """Go on with a solve from its checkpoint, on any number of ranks: as it would have gone on on
    those that wrote it, but for rounding.

    The parameters are those of `condal.resume`, and `checkpoint` a folder.
    """
    whole = problem_of(problem)
    team = team_of(whole)
    with team.solving(), ExitStack() as stack:
        said = {"tol": tol, "max_iters": max_iters, "checkpoint": _path(checkpoint)}
        said |= _sizes(whole)
        team.require_alike()
        team.require_same(said, "what they were asked to do")
        opened = DistributedKeeper(Checkpoint.of(checkpoint, every_seconds), whole)
        writer, limits = stack.enter_context(opened), {"max_seconds": max_seconds}
        run = resumed_run(
            writer, lambda same: same, stopper, tol=tol, max_iters=max_iters, **limits
        )
        return _gone(run, callback, stack)


class _Heard:
    """A callback that may stop the solve by KeyboardInterrupt, too, which one rank would meet alone
    and take for its own."""

    def __init__(self, callback: Callback) -> None:
        self._callback = callback
        self.note = getattr(callback, "note", None)

    def __call__(self, row: Row) -> bool:
        try:
            return bool(self._callback(row))
        except KeyboardInterrupt:
            return True


def _gone(run: Run, callback: Callback | None, stack: ExitStack) -> Result:
    """What it comes to; the vectors of its oracle are let go, by all ranks at once."""
    if isinstance(callback, AbstractContextManager):
        stack.enter_context(callback)
    heard = None if callback is None else _Heard(callback)
    result, X = finish(run, heard, stack), run.problem.X
    if isinstance(X, DistributedSpectrahedron):
        X.release()
    return result


def team_of(problem: Problem) -> Team:
    """The ranks that hold a problem together; ProblemError for one of a single process."""
    team = getattr(problem.X, "team", None)
    if team is None:
        raise ProblemError(
            "condal.distributed.solve takes a problem of distributed pieces, such as that of "
            f"condal.distributed.max_cut; got one over {type(problem.X).__name__}: use condal.solve"
        )
    return team


def _require_images_alone(method: Any) -> None:
    """Raise ProblemError unless it is CGAL, and keeps no more of x than a sketch."""
    keeps_more = not isinstance(method, CGAL) or isinstance(method.eta, Corrective)
    if keeps_more or isinstance(method.sigma, Smoothed):
        raise ProblemError(
            "condal.distributed.solve takes condal.CGAL(), without Corrective() and Smoothed(); "
            f"got {method!r}"
        )


def _path(checkpoint: PathLike | Checkpoint | None) -> str | None:
    """That of its folder, as it was given."""
    given = checkpoint.path if isinstance(checkpoint, Checkpoint) else checkpoint
    return None if given is None else os.fsdecode(given)


def _sizes(problem: Problem) -> dict[str, Any]:
    X: Any = problem.X
    return {"n": X.n, "trace": X.trace, "maximise": problem.maximise}
