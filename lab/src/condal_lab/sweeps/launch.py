"""`sweep`: solve a family of problems at every point of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from condal.certificates.history import Row
from condal.driver.run import Callback
from condal.driver.run_record import Stop
from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.problem import Model, Problem
from condal.result import Result
from condal.runtime.arguments import require_whole
from condal.runtime.limits import Bytes
from condal.types import Method
from condal_lab.sweeps.folder import SweepFolder
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.run import run, undisturbed
from condal_lab.sweeps.table import Table
from condal_lab.sweeps.tasks import Grid, Parameters, as_json, chains
from condal_lab.sweeps.workers import Workers

# A problem, or a problem and its own options for `solve`.
Instance: TypeAlias = Problem | Model | tuple[Problem | Model, dict[str, Any]]
Family: TypeAlias = Callable[..., Instance]


def sweep(
    family: Family,
    points: Grid | Iterable[Parameters],
    *,
    out: PathLike,
    along: str | None = None,
    workers: int | str | None = None,
    watch: Watch | None = None,
    name: str | None = None,
    method: Method | str | None = None,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    max_memory: Bytes = None,
    seed: int | None = None,
) -> Table:
    """Solve ``family(**parameters)`` at every point of a grid, into a resumable folder.

    Each result is written as it arrives, whole or not at all, and is not computed again: after a
    kill, a Ctrl-C or a power cut the same call resumes the sweep. If a point fails, its row says
    why and the other points continue; the next call tries it again.

    Parameters
    ----------
    family : callable
        Makes a problem or a model of parameters, or a pair of it and a dict of options for `solve`
        that override those below. Workers import it by its name.
    points : mapping or iterable of dict
        A dict of lists of values, of which all combinations are taken, or a list of dicts. Values
        are texts, finite numbers, booleans, None, and lists and dicts of these.
    out : str or os.PathLike
        The folder, for this family and this version of condal only.
    along : str, optional
        A parameter. Points that differ only in it form a chain, in which each solve is warm-started
        from the result before. Chains are solved in parallel.
    workers : int or str, optional
        None for a process per core, with one thread each; a number of processes; 0 for this process
        alone; or the address of a Dask scheduler, such as ``"tcp://host:8786"``.
    watch : Watch, optional
        Receives what is done, such as `condal_lab.sweeps.Lines()`.
    name : str, optional
        The name of the family in the folder; by default that of the function.
    method, tol, max_iters, max_seconds, max_memory, seed
        Options of every solve, as in `solve`.

    Returns
    -------
    Table
        A row per point.

    Raises
    ------
    ProblemError
        If the points or the options are invalid.
    FormatError
        If the folder belongs to another family or version, or another sweep is writing to it.

    Examples
    --------
    >>> from condal_lab import sweep
    >>> import condal, numpy as np, tempfile
    >>> def family(radius):
    ...     f = condal.LeastSquares(np.eye(3), np.ones(3))
    ...     return condal.Problem.of(f, condal.L1Ball(3, radius))
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = sweep(family, {"radius": [1.0, 2.0]}, out=out, workers=0)
    >>> table["status"]
    ['solved', 'solved']
    """
    Stop(tol, max_iters, max_seconds)
    if seed is not None:
        require_whole(seed, "seed", least=0)
    if not callable(family):
        raise ProblemError(f"family takes a function that makes a problem; got {family!r:.60}")
    options: dict[str, Any] = {
        "method": method,
        "tol": tol,
        "max_iters": max_iters,
        "max_seconds": max_seconds,
        "max_memory": max_memory,
        "seed": seed,
    }
    tasks, team = chains(points, options, along), Workers.of(workers)
    folder = SweepFolder(out, name or _named(family))
    work = _Solving(family, options)
    return run(work, tasks, folder, workers=team, watch=watch or Watch())


@dataclass(frozen=True, eq=False)
class _Solving:
    """The work of a point: make the problem of the family and solve it."""

    family: Family
    options: dict[str, Any]

    def __call__(
        self, parameters: Parameters, start: Result | None
    ) -> tuple[Result, dict[str, Any]]:
        instance = self.family(**parameters)
        problem, own = instance if isinstance(instance, tuple) else (instance, {})
        options = {**self.options, **own}
        saved = {key: value for key, value in options.items() if key in self.options}
        settings = {key: as_json(value, f"the option {key}") for key, value in saved.items()}
        callback, stopper = _StopRequest(options.pop("callback", None)), options.get("stopper")
        result = solve(problem, **options, callback=callback, warm_start=start)
        asked = callback.asked or (stopper is not None and stopper.stopped)
        about = {"settings": {"parameters": parameters, **settings}}
        return undisturbed(result, asked=asked), about


class _StopRequest:
    """The callback of a family, if it has one, and whether it `asked` to stop."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback, self.asked = callback, False

    def __call__(self, row: Row) -> bool:
        if self._callback is not None:
            self.asked = bool(self._callback(row))
        return self.asked


def _named(family: Family) -> str:
    """Return the name by which a folder identifies its family."""
    name = getattr(family, "__qualname__", "")
    if not name or "<lambda>" in name:
        raise ProblemError(
            f"the folder identifies a family by its name, and {family!r:.60} has none: pass name="
        )
    return f"{getattr(family, '__module__', '')}.{name}"
