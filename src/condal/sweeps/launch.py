"""`sweep`: a family of problems, solved for every point of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from condal.driver.memory import Bytes
from condal.driver.run import Callback
from condal.driver.solve import solve
from condal.driver.stop import Stop
from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.problem import Model, Problem
from condal.result import Result, Row
from condal.runtime.arguments import require_whole
from condal.sweeps.folder import SweepFolder
from condal.sweeps.run import run, undisturbed
from condal.sweeps.table import Table
from condal.sweeps.tasks import Grid, Parameters, chains, spelt
from condal.sweeps.watch import Silent, Watch
from condal.sweeps.workers import Workers
from condal.types import Method

# A problem, or a problem and options of its own for `solve`.
Made: TypeAlias = Problem | Model | tuple[Problem | Model, dict[str, Any]]
Family: TypeAlias = Callable[..., Made]


def sweep(
    family: Family,
    points: Grid | Iterable[Parameters],
    *,
    out: PathLike,
    along: str | None = None,
    workers: int | str | None = None,
    watch: Watch | None = None,
    name: str | None = None,
    method: Method | None = None,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    max_memory: Bytes = None,
    seed: int = 0,
) -> Table:
    """Solve family(**parameters) for every point of a grid, into a folder that goes on where it
    was.

    Each result is written as it comes, whole or not at all. What the folder holds is not computed
    again: after a kill, a Ctrl-C or a power cut the same call goes on. A point that fails is told
    in its row, the others go on, and it is tried again by the next call.

    Parameters
    ----------
    family : a function that makes a problem, or a model, of parameters, or a pair of it and a dict
        of options for `solve` that go before those below. It is sent to the workers by its name.
    points : a dict of lists of values, of which all combinations are taken, or a list of dicts.
        Values are texts, finite numbers, true, false, None, and lists and dicts of these.
    out : the folder, of this family alone and this version of condal.
    along : a parameter in the order of whose values each solve starts from the result before:
        points that differ in it alone are a chain. Chains are solved beside each other.
    workers : None for a process a core, with one thread each; a number of processes; 0 for this
        one alone; or the address of a Dask scheduler, such as "tcp://host:8786".
    watch : who is told what is done, as `condal.sweeps.Lines()`; None for nobody.
    name : what the family is called in the folder; None for the name of the function.
    method, tol, max_iters, max_seconds, max_memory, seed : of every solve, as for `solve`.
    """
    Stop(tol, max_iters, max_seconds)
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
    listed, hired = chains(points, options, along), Workers.of(workers)
    folder = SweepFolder(out, name or _named(family))
    work = _Solving(family, options)
    return run(work, listed, folder, workers=hired, watch=Silent() if watch is None else watch)


@dataclass(frozen=True, eq=False)
class _Solving:
    """The work of a point: the family's problem, solved."""

    family: Family
    options: dict[str, Any]

    def __call__(
        self, parameters: Parameters, start: Result | None
    ) -> tuple[Result, dict[str, Any]]:
        made = self.family(**parameters)
        problem, own = made if isinstance(made, tuple) else (made, {})
        options = {**self.options, **own}
        told = {key: value for key, value in options.items() if key in self.options}
        settings = {key: spelt(value, f"the option {key}") for key, value in told.items()}
        callback, stopper = _Heard(options.pop("callback", None)), options.get("stopper")
        result = solve(problem, **options, callback=callback, warm_start=start)
        asked = callback.asked or (stopper is not None and stopper.stopped)
        about = {"settings": {"parameters": parameters, **settings}}
        return undisturbed(result, asked=asked), about


class _Heard:
    """The callback of a family, if it has one, and whether it has `asked` to stop."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback, self.asked = callback, False

    def __call__(self, row: Row) -> bool:
        if self._callback is not None:
            self.asked = bool(self._callback(row))
        return self.asked


def _named(family: Family) -> str:
    """That by which a folder knows its family again."""
    name = getattr(family, "__qualname__", "")
    if not name or "<lambda>" in name:
        raise ProblemError(
            f"the folder knows a family by its name, and {family!r:.60} has none: pass name="
        )
    return f"{getattr(family, '__module__', '')}.{name}"
