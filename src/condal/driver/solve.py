"""`solve` and `resume`: what is asked for, checked, and given to the driver."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import Any

from condal.driver.checkpoint_writer import EVERY_SECONDS, Checkpoint, CheckpointWriter
from condal.driver.memory import Bytes, fitting
from condal.driver.pieces.guards import guarded
from condal.driver.run import Callback, Run
from condal.driver.run_record import RunRecord
from condal.driver.stop import Stop
from condal.driver.warm_start import warm_from
from condal.errors import PieceError, ProblemError
from condal.io.safe_files import PathLike
from condal.methods.registry import joined_names
from condal.problem import Model, Problem, problem_of
from condal.result import Result, unbegun
from condal.runtime.arguments import require_whole
from condal.runtime.cancellation import Stopper
from condal.storage import require_fit
from condal.types import Method, Storage


def solve(
    problem: Problem | Model,
    method: Method | None = None,
    *,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    max_memory: Bytes = None,
    storage: Storage | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    warm_start: Result | None = None,
    stopper: Stopper | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    every_seconds: float = EVERY_SECONDS,
) -> Result:
    """Minimise f(x) + h(Ax) over x in X to a proved relative gap and infeasibility of tol.

    Parameters
    ----------
    problem : a `Problem`, or a model such as `condal.problems.max_cut(W)`.
    method : a method record; None chooses by the problem and tol, and goes on with another method
        where one comes to rest: `Result.why` says what was done.
    tol : SOLVED means |bound - objective| <= tol max(1, |objective|), proved, and an infeasibility
        of at most tol.
    max_iters, max_seconds : limits; None for none. The time ends an oracle in the midst of its
        work, but for the first iteration, without which there is nothing to return.
    max_memory : what the solve may take beside the data, as 2**30 or "4 GB": what would not fit is
        not chosen, and refused before it is allocated. None for the memory of the machine.
    storage : what to keep of x, from `condal.storage`; None chooses by size.
    seed : of all that is random: sketches and probabilistic proofs.
    callback : called with a `Row` after each iteration; a true answer stops the solve. One that is
        a context manager, as `condal.Progress()` is, is entered for the time of the solve.
    warm_start : a `Result` of the same problem, or of one of the same shape, to go on from.
    stopper : a `condal.Stopper`, whose `stop()` ends the solve from another thread.
    checkpoint, every_seconds : a new file, to be written every so many seconds and at the end,
        from which `condal.resume` goes on as if nothing had happened.

    Ctrl-C and SIGTERM end the solve with the status INTERRUPTED and the best answer so far; a
    second one raises KeyboardInterrupt, or SystemExit.

    A piece of your own that raises ends the solve with a `PieceError`, which names it and carries
    the best result so far; one that gives NaN, or the wrong shape, with the status NUMERICAL_ERROR.
    Where that is before there is a point, the result has x = None and no bound.
    """
    stop, whole = Stop(tol, max_iters, max_seconds), problem_of(problem)
    require_whole(seed, "seed", least=0)
    _require(
        (method, "iterates", "method takes a record such as condal.CGAL()"),
        (storage, "move", "storage takes an object such as condal.storage.Sketch(n, 10)"),
        (warm_start, "history", "warm_start takes the Result of an earlier solve"),
        (callback, "__call__", "callback takes a function of one Row"),
        (stopper, "stop", "stopper takes a condal.Stopper()"),
    )
    if storage is not None:
        require_fit(storage, whole.X)
    with ExitStack() as stack:
        keeper = None
        if checkpoint is not None:
            keeper = stack.enter_context(
                CheckpointWriter(Checkpoint.of(checkpoint, every_seconds), whole)
            )
            keeper.options |= {"tol": float(tol), "seed": int(seed)}
            keeper.require_new((method, storage))
        try:
            user_problem = guarded(whole)
            tried, max_bytes = fitting(
                user_problem, method, storage, tol=stop.tol, max_memory=max_memory
            )
            if keeper is not None:
                keeper.options["max_bytes"] = max_bytes  # the next method keeps x within it, too
            run = Run(
                user_problem,
                stop,
                RunRecord(tried),
                seed=seed,
                storage=storage,
                keeper=keeper,
                stopper=stopper,
                max_bytes=max_bytes,
            )
        except PieceError as fault:  # while the problem is looked at and scaled
            return _unbegun(fault, whole, "none" if method is None else method.name)
        if warm_start is not None:
            run.warm(warm_from(warm_start, user_problem, run.scaling))
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
    """Go on with a solve from its checkpoint, as if it had not been interrupted.

    The answer is the same, bit for bit on one thread, as that of a solve that was left alone: the
    method, its state, the storage and all random numbers are those of the checkpoint, which is
    refused if it is of another problem or of another version of condal.

    Parameters
    ----------
    checkpoint : the file that `solve(..., checkpoint=...)` wrote; it is written on.
    problem : the same problem, made again of the same data.
    tol : None for that of the solve; another may be asked for.
    max_iters, max_seconds : limits of what is done from here on; those of the solve are forgotten.
    callback, stopper, every_seconds : as for `solve`.
    """
    whole = problem_of(problem)
    _require(
        (callback, "__call__", "callback takes a function of one Row"),
        (stopper, "stop", "stopper takes a condal.Stopper()"),
    )
    with ExitStack() as stack:
        keeper = stack.enter_context(
            CheckpointWriter(Checkpoint.of(checkpoint, every_seconds), whole)
        )
        log, checks, options = keeper.read()
        stop = Stop(options["tol"] if tol is None else tol, max_iters, max_seconds)
        keeper.options["tol"] = float(stop.tol)
        try:
            run = Run(
                guarded(whole),
                stop,
                log,
                seed=options["seed"],
                keeper=keeper,
                stopper=stopper,
                max_bytes=options["max_bytes"],
            )
            run.recall(checks)
        except PieceError as fault:
            return _unbegun(fault, whole, joined_names(log.names))
        return _gone(run, callback, stack)


def _gone(run: Run, callback: Callback | None, stack: ExitStack) -> Result:
    if isinstance(callback, AbstractContextManager):
        stack.enter_context(callback)
    return run.go(callback)


def _require(*given: tuple[Any, str, str]) -> None:
    """Each value, if there is one, has the verb of what it should be."""
    for value, verb, wanted in given:
        if value is not None and (isinstance(value, type) or not hasattr(value, verb)):
            raise ProblemError(f"{wanted}; got {value!r}")


def _unbegun(fault: PieceError, problem: Problem, method: str) -> Result:
    """What there is where a piece of the user's failed before the first iteration."""
    fault.result = unbegun(problem, method, str(fault))
    if fault.__cause__ is not None:
        raise fault
    return fault.result
