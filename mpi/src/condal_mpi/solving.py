"""`solve` and `resume` on many ranks: the same driver and method, on sharded arrays."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from condal.certificates.history import Row
from condal.driver.checkpoint import Checkpoint, new_checkpoint, resumed_run
from condal.driver.run import Callback, Run
from condal.driver.run_record import EVERY_SECONDS, RunRecord, Stop
from condal.driver.solve import finish
from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.methods.cgal import CGAL
from condal.methods.choice import Choice
from condal.methods.lowrank.method import LowRankCGAL
from condal.methods.registry import method_of
from condal.methods.spheres.method import SphereSweeps
from condal.problem import Model, Problem, problem_of
from condal.result import Result
from condal.runtime.arguments import require_whole, seed_of
from condal.runtime.limits import TimeLimit
from condal.runtime.meter import Stopper, agreed
from condal.storage.whole import Factor
from condal.types import Storage
from condal_mpi.checkpoint_writer import DistributedCheckpointWriter
from condal_mpi.choice import chosen_method, default_rank, reason, require_supported
from condal_mpi.pieces import DistributedSketch, DistributedSpectrahedron
from condal_mpi.team import Team


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def solve(
    problem: Problem | Model,
    method: CGAL | LowRankCGAL | SphereSweeps | str | None = None,
    *,
    R: int | None = None,
    tol: float | None = None,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    seed: int | None = None,
    callback: Callback | None = None,
    stopper: Stopper | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    every_seconds: float = EVERY_SECONDS,
) -> Result:
    r"""Minimise :math:`f(x) + h(Ax)` over :math:`x \in X`, with a proof, on all ranks together.

    Every rank calls it, with the same options. Every rank gets the same result except for x and y,
    which hold its own rows: :math:`x = U \operatorname{diag}(w) U^T`, where U and y are
    `ShardedArray`. In phase retrieval every rank gets all of x.

    Parameters
    ----------
    problem : Problem or Model
        A problem with distributed pieces, such as that of `condal_mpi.max_cut`.
    method : CGAL, LowRankCGAL, SphereSweeps or str, optional
        The method or its name. Where their vectors fit into memory, by default LowRankCGAL for a
        fixed diagonal that is all of A, as for max-cut, and SphereSweeps for theta; LowRankCGAL for
        phase retrieval, which takes no other; else CGAL, with line search unless for max-cut.
    R : int, optional
        The rank of the sketch of x, which has n x R numbers on all ranks together; only for CGAL.
        By default 10 for max-cut and 40 for others.
    tol : float, optional
        The relative gap, infeasibility and price of infeasibility to prove; by default 1e-3 for
        LowRankCGAL and SphereSweeps, 1e-1 for max-cut by CGAL and 1e-2 for others.
    max_iters, max_seconds : int, float, optional
        Limits. The clock of the first rank counts.
    seed : int, optional
        The seed of the sketch and of probabilistic proofs; by default it is drawn from the
        system's entropy.
    callback, stopper : callable, Stopper, optional
        As in `condal.solve`; those of the first rank count.
    checkpoint : path or Checkpoint, optional
        A new folder, to which each rank writes its own rows. `condal_mpi.resume` resumes
        from it on any number of ranks.
    every_seconds : float
        The time between two checkpoints.

    Returns
    -------
    Result
        The result.
    """
    whole, given = problem_of(problem), method_of(method) if isinstance(method, str) else method
    team = team_of(whole)
    with team.solving(), ExitStack() as stack:
        require_supported(given, whole)
        chosen, tol = chosen_method(whole, given, tol)
        R = default_rank(whole) if R is None else R
        stop, limit = Stop(tol, max_iters, max_seconds), TimeLimit(max_seconds)
        if seed is not None:
            require_whole(seed, "seed", least=0)
        require_whole(R, "R")
        asked = {"R": R, "tol": tol, "max_iters": max_iters, "seed": seed, "method": repr(chosen)}
        _require_same(whole, asked, checkpoint)
        seed = agreed(seed_of(seed))
        file, held = (checkpoint, every_seconds), (chosen, None)
        options = {"tol": float(tol), "max_bytes": None}
        writer = new_checkpoint(stack, DistributedCheckpointWriter, *file, whole, held, options)
        run = Run(
            whole,
            stop,
            RunRecord((Choice(chosen, "it was asked for" if given else reason(chosen, whole)),)),
            seed=seed,
            storage=_storage(chosen, whole, R, seed),
            writer=writer,
            stopper=stopper,
            limit=limit,
        )
        dual = getattr(problem, "first_dual", None)
        if dual is not None and isinstance(chosen, CGAL):
            normalised_dual = run.scaling.normalised_dual
            warm = chosen.suggested(run.normalised, lambda: normalised_dual(dual()))
            if warm is not None:
                run.start_from(warm)
        return _run_to_end(run, callback, stack)


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def resume(
    checkpoint: PathLike | Checkpoint,
    problem: Problem | Model,
    *,
    tol: float | None = None,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    seed: int | None = None,
    callback: Callback | None = None,
    stopper: Stopper | None = None,
    every_seconds: float = EVERY_SECONDS,
) -> Result:
    """Resume a solve from its checkpoint, on any number of ranks.

    Up to rounding, it continues as it would have on the ranks that wrote the checkpoint.

    Parameters
    ----------
    checkpoint : path or Checkpoint
        The folder.
    problem : Problem or Model
        The problem that was solved.
    tol, max_iters, max_seconds, seed, callback, stopper, every_seconds
        As in `condal.resume`.

    Returns
    -------
    Result
        The result.
    """
    whole = problem_of(problem)
    team = team_of(whole)
    with team.solving(), ExitStack() as stack:
        limits = Stop(1.0 if tol is None else tol, max_iters, max_seconds), TimeLimit(max_seconds)
        asked = {"tol": tol, "max_iters": max_iters, "seed": seed}
        _require_same(whole, asked, checkpoint)
        opened = DistributedCheckpointWriter(Checkpoint.of(checkpoint, every_seconds), whole)
        writer = stack.enter_context(opened)
        seed = agreed(seed_of(seed))
        run = resumed_run(writer, lambda same: same, stopper, *limits, tol=tol, seed=seed)
        return _run_to_end(run, callback, stack)


class _StoppingCallback:
    """A callback whose KeyboardInterrupt stops the solve on all ranks, not only on its own."""

    def __init__(self, callback: Callback) -> None:
        self._callback = callback
        self.note = getattr(callback, "note", None)

    def __call__(self, row: Row) -> bool:
        try:
            return bool(self._callback(row))
        except KeyboardInterrupt:
            return True


def _run_to_end(run: Run, callback: Callback | None, stack: ExitStack) -> Result:
    """Run to the end, then free the vectors of the oracle on all ranks at once."""
    if isinstance(callback, AbstractContextManager):
        stack.enter_context(callback)
    stopping = None if callback is None else _StoppingCallback(callback)
    result, X = finish(run, stopping, stack), run.problem.X
    if isinstance(X, DistributedSpectrahedron):
        X.release()
    return result


def team_of(problem: Problem) -> Team:
    """Return the ranks that hold a problem; raise ProblemError for a problem of one process."""
    team = getattr(problem.X, "team", None)
    if team is None:
        raise ProblemError(
            "condal_mpi.solve takes a problem with distributed pieces, such as that of "
            f"condal_mpi.max_cut; got one over {type(problem.X).__name__}: use condal.solve"
        )
    return team


def _storage(method: Any, problem: Problem, R: int, seed: int) -> Storage:
    X: Any = problem.X
    return (
        Factor() if method.keeps == "factor" else DistributedSketch(X.n, R, team=X.team, seed=seed)
    )


def _require_same(
    problem: Problem, asked: dict[str, Any], checkpoint: PathLike | Checkpoint | None
) -> None:
    """Refuse ranks with other versions, options or sizes than the first."""
    X: Any = problem.X
    path = checkpoint.path if isinstance(checkpoint, Checkpoint) else checkpoint
    asked |= {"checkpoint": None if path is None else os.fsdecode(path)}
    asked |= {"n": X.n, "trace": X.trace, "maximise": problem.maximise}
    X.team.require_alike()
    X.team.require_same(asked, "what they were asked to do")
