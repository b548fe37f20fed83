"""`solve` and `resume`: check what is asked for, and give it to the driver."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.bound import DEFAULT_FAILURE
from condal.certificates.history import Row
from condal.driver.guards import guarded
from condal.driver.memory import Plan, make_plan
from condal.driver.run import Callback, Run
from condal.driver.run_record import EVERY_SECONDS, RunRecord, Stop
from condal.errors import PieceError, ProblemError
from condal.io.safe_files import PathLike
from condal.problem import JudgesItself, Model, Problem, problem_of
from condal.result import Result, unbegun
from condal.runtime.arguments import Seed, seed_of
from condal.runtime.limits import Bytes, TimeLimit
from condal.runtime.meter import Stopper
from condal.storage.choice import require_fit
from condal.types import Method, Storage

if TYPE_CHECKING:
    from condal.driver.checkpoint import Checkpoint


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def solve(
    problem: Problem | Model,
    method: Method | Plan | str | None = None,
    *,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    max_memory: Bytes = None,
    storage: Storage | None = None,
    seed: Seed = None,
    failure: float = DEFAULT_FAILURE,
    callback: Callback | None = None,
    warm_start: Result | tuple[Any, Any] | None = None,
    stopper: Stopper | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    every_seconds: float = EVERY_SECONDS,
    verbose: bool = False,
) -> Result:
    r"""Minimise :math:`f(x) + g(Bx)` over :math:`x \in X` with :math:`Ax \in K`, and prove a bound.

    The solve ends with the status SOLVED when

    .. math:: |bound - objective| \le tol \max(1, |objective|)

    is proved, and the relative infeasibility and its price (`Result.price`) are at most tol.

    Parameters
    ----------
    problem : Problem or Model
        The problem, or a model such as ``condal.problems.max_cut(W)``.
    method : Method or str, optional
        A method record such as ``condal.CGAL()``, or its name on the command line, such as
        ``"cgal"``. By default, or for ``"auto"``, chosen from the problem and `tol`; if one method
        stalls, another continues from its point. `Result.why` names them.
    tol : float
        The largest relative gap, infeasibility and price of infeasibility of a SOLVED result. With
        0 the solve runs to max_iters or max_seconds, unless its method can do no more.
    max_iters, max_seconds : int, float, optional
        Limits. The time limit also interrupts an oracle call, except in the first iteration, which
        produces the first point.
    max_memory : int or str, optional
        The memory that the process may use in total, including Python and the data, such as
        ``2**30`` or ``"4 GB"``. Methods that are estimated to need more are skipped; if none is
        left, ProblemError is raised before the solve starts. By default all memory that the machine
        or the control group of the process allows.
    storage : Storage, optional
        How to store x, such as ``condal.storage.Sketch(n, 10)``. By default chosen by size.
    seed : int or Generator, optional
        The seed of sketches and of probabilistic proofs; a `numpy.random.Generator` draws one. By
        default it is drawn from the system's entropy, so whoever chose the data cannot have known
        it; `Result.seed` repeats the solve.
    failure : float
        The probability with which all proofs of the solve together may be wrong, from 0 to 0.01;
        proofs that cost less than half of the solve are deterministic anyway. With 0 all are. What
        they cost is said before the solve starts; if that is too much, ProblemError is raised.
    callback : callable, optional
        Called with a `Row` after each iteration; a true value stops the solve. A context manager,
        such as ``condal.Progress()``, is entered for the duration of the solve.
    warm_start : Result or tuple, optional
        A result of the same problem, or of one of the same shape, to start from. A pair (x1, y1)
        gives the inputs of Algorithm 1: a point of X and the multipliers of Ax in your units;
        either may be None.
    stopper : Stopper, optional
        Its `stop()` ends the solve from another thread.
    checkpoint : path or Checkpoint, optional
        A new file, written every `every_seconds` and at the end, from which `condal.resume`
        continues.
    every_seconds : float
        The time between two checkpoints.
    verbose : bool
        Whether to show the progress, as ``callback=condal.Progress()`` does. The logger "condal"
        of `logging` has the methods and the result at the level INFO, and each row at DEBUG.

    Returns
    -------
    Result
        The best point, its proved bound, and the history. Ctrl-C and SIGTERM end the solve with the
        status INTERRUPTED and the best point so far; a second signal raises KeyboardInterrupt or
        SystemExit.

    Raises
    ------
    ProblemError
        If the options do not fit the problem.
    PieceError
        If a user-supplied piece raises an exception. The error names the piece and carries the best
        result so far. A piece that returns NaN or a wrong shape ends the solve with the status
        NUMERICAL_ERROR instead. If that happens before the first point exists, the result has
        x = None and an infinite bound.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> result = condal.solve(condal.problems.max_cut(cycle + cycle.T), tol=1e-4)
    >>> result.status.name, round(float(result.objective), 2)
    ('SOLVED', 4.52)
    """
    if isinstance(problem, JudgesItself):
        judged: Result = problem.solve(
            method,
            tol=tol,
            max_iters=max_iters,
            max_seconds=max_seconds,
            max_memory=max_memory,
            storage=storage,
            seed=seed,
            failure=failure,
            callback=callback,
            warm_start=warm_start,
            stopper=stopper,
            checkpoint=checkpoint,
            every_seconds=every_seconds,
            verbose=verbose,
        )
        return judged
    stop = Stop(tol, max_iters, max_seconds, failure)
    limit, user_problem = TimeLimit(max_seconds), problem_of(problem)
    seed = seed_of(seed)
    if isinstance(method, str):
        from condal.methods.registry import method_of

        method = method_of(method)
    plan = method if isinstance(method, Plan) else None
    first: Any = method.method if isinstance(method, Plan) else method
    earlier = None if isinstance(warm_start, tuple) else warm_start
    require_kinds(method=first, storage=storage, warm_start=earlier)
    require_kinds(callback=callback, stopper=stopper)
    if storage is not None:
        require_fit(storage, user_problem.X)
    with ExitStack() as stack:
        writer = None
        if checkpoint is not None:
            from condal.driver.checkpoint import CheckpointWriter, new_checkpoint

            file, held = (checkpoint, every_seconds), (first, storage)
            options = {"tol": float(tol), "failure": float(failure)}
            writer = new_checkpoint(stack, CheckpointWriter, *file, user_problem, held, options)
        try:
            whole = guarded(user_problem)
            if plan is None:
                plan = make_plan(whole, first, storage, tol=stop.aim, max_memory=max_memory)
            if writer is not None:  # the next method stores x within it, too
                writer.options["max_bytes"] = plan.max_bytes
            run = Run(
                whole,
                stop,
                RunRecord(plan.tried),
                seed=seed,
                storage=storage,
                writer=writer,
                stopper=stopper,
                max_bytes=plan.max_bytes,
                limit=limit,
            )
        except PieceError as fault:  # while the problem is inspected and scaled
            fault.result = unbegun(
                user_problem, "none" if first is None else first.name, str(fault)
            )
            return _result_of(fault)
        if warm_start is not None:
            from condal.driver.warm_start import claimed_answer, seed_offset, warm_from

            warm = warm_from(warm_start, whole, run.scaling)
            run.start_from(warm, seed_offset=seed_offset(warm_start))
            run.certifier.given = claimed_answer(warm_start, whole, warm.x, stop.aim)
        elif not plan.by_user and hasattr(problem, "first_pair"):
            from condal.driver.warm_start import warm_from

            run.start_from(warm_from(problem.first_pair(), whole, run.scaling))
            run.certifier.try_proposal_first()
        return finish(run, callback, stack, verbose=verbose)


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def resume(
    checkpoint: PathLike | Checkpoint,
    problem: Problem | Model,
    *,
    tol: float | None = None,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    seed: Seed = None,
    callback: Callback | None = None,
    stopper: Stopper | None = None,
    every_seconds: float = EVERY_SECONDS,
    verbose: bool = False,
) -> Result:
    """Resume a solve from its checkpoint.

    The method, its state, the storage and `failure` are those of the checkpoint. What it claims is
    proved again, and probabilistic proofs have new random starts. With the seed of the solve, the
    result is, on one thread, bit-identical to that of an uninterrupted run.

    Parameters
    ----------
    checkpoint : path or Checkpoint
        The file that ``solve(..., checkpoint=...)`` wrote; it is updated.
    problem : Problem or Model
        The same problem, made again from the same data.
    tol : float, optional
        Another tolerance than that of the solve; methods that aimed at that one aim at this one.
    max_iters, max_seconds : int, float, optional
        Limits of what is done from now on; those of the solve no longer count.
    seed : int or Generator, optional
        The seed of probabilistic proofs. By default it is drawn from the system's entropy, so
        whoever wrote the checkpoint cannot have known it.
    callback, stopper, every_seconds, verbose
        As for `solve`.

    Returns
    -------
    Result
        As of `solve`.

    Raises
    ------
    FormatError
        If the file is not a checkpoint of this problem and of this version of condal.
    """
    if isinstance(problem, JudgesItself):
        judged: Result = problem.resume(
            checkpoint,
            tol=tol,
            max_iters=max_iters,
            max_seconds=max_seconds,
            seed=seed,
            callback=callback,
            stopper=stopper,
            every_seconds=every_seconds,
            verbose=verbose,
        )
        return judged
    from condal.driver.checkpoint import Checkpoint, CheckpointWriter, resumed_run

    limits = Stop(1.0 if tol is None else tol, max_iters, max_seconds), TimeLimit(max_seconds)
    require_kinds(callback=callback, stopper=stopper)
    with ExitStack() as stack:
        opened = CheckpointWriter(Checkpoint.of(checkpoint, every_seconds), problem_of(problem))
        writer = stack.enter_context(opened)
        try:
            run = resumed_run(writer, guarded, stopper, *limits, tol=tol, seed=seed_of(seed))
        except PieceError as fault:
            return _result_of(fault)
        return finish(run, callback, stack, verbose=verbose)


def _result_of(fault: PieceError) -> Result:
    """Return the result of a solve that failed in user code before the first iteration; raise the
    exception of that code, if there was one."""
    if fault.__cause__ is not None:
        raise fault
    assert isinstance(fault.result, Result)
    return fault.result


_VERBS = {
    "method": ("iterates", "method takes a record such as condal.CGAL(), or its name"),
    "storage": ("move", "storage takes an object such as condal.storage.Sketch(n, 10)"),
    "warm_start": ("history", "warm_start takes the Result of an earlier solve or (x1, y1)"),
    "callback": ("__call__", "callback takes a function of one Row"),
    "stopper": ("stop", "stopper takes a condal.Stopper()"),
}


def require_kinds(**given: Any) -> None:
    """Raise ProblemError unless each option, if it is given, is an object of its kind."""
    for name, value in given.items():
        verb, wanted = _VERBS[name]
        if value is not None and (isinstance(value, type) or not hasattr(value, verb)):
            raise ProblemError(f"{wanted}; got {value!r}")


def finish(
    run: Run, callback: Callback | None, stack: ExitStack, *, verbose: bool = False
) -> Result:
    """Enter the callback, if it is a context manager, and run; show the progress if verbose."""
    if isinstance(callback, AbstractContextManager):
        stack.enter_context(callback)
    if not verbose:
        return run.run(callback, getattr(callback, "note", None))
    from condal.report.progress import Progress

    progress = stack.enter_context(Progress())

    def both(row: Row) -> bool:
        asked = callback is not None and callback(row)
        progress(row)
        return bool(asked)

    result = run.run(both, progress.note)
    progress.conclude(result)
    return result
