"""What a solve returns: the answer, its certificate, and how it was reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from condal.certificates.certificate import Certificate
from condal.linalg.points import Array
from condal.linalg.proof import Proof
from condal.problem import Problem
from condal.runtime.markup import grid, pairs
from condal.runtime.text import escape_terminal
from condal.storage.reconstruction import Reconstruction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from condal.report.curves.panels import Trace
    from condal.report.curves.style import Against

SHOWN = 5  # rows at each end of a history, in a notebook


class Status(Enum):
    """How a solve ended; the value is what the user reads, and ends in advice."""

    SOLVED = "solved: the gap is proved to be within the tolerance"
    INFEASIBLE = (
        "infeasible: it is proved that no point of X satisfies the constraints; "
        "check b, the bounds and the trace"
    )
    UNBOUNDED = (
        "unbounded: it is proved that the objective has no bound where the constraints hold; "
        "look for a constraint that is missing, or a sign that is wrong"
    )
    INACCURATE = (
        "inaccurate: the methods came to rest with more proved than nothing and less than was "
        "asked for, as the gap and the infeasibility say; scale the data, or raise tol"
    )
    MAX_ITERS = "stopped at the iteration limit; raise max_iters or tol"
    MAX_SECONDS = "stopped at the time limit; raise max_seconds or tol, or pass warm_start=result"
    INTERRUPTED = (
        "interrupted; pass warm_start=result, or resume the checkpoint, to go on from here"
    )
    STALLED = (
        "stalled: the method can do no more with the accuracy of its oracle; "
        "pass another method, such as condal.CGAL()"
    )
    NUMERICAL_ERROR = (
        "stopped by a numerical error: a piece of the problem gave what is no use, or a number was "
        "not finite; look for overflow or NaN in your operators, and try condal.check_problem"
    )


class Row(NamedTuple):
    """One iteration. Letters as in the paper; objective, bound and gap in the user's sense.

    `bound` is the best bound so far, an estimate from the oracle's own answers: only the
    certificate of the result is proved. `infeasibility` is that of x_k, before any repair.
    """

    k: int
    objective: float
    bound: float
    gap: float
    infeasibility: float
    lam: float
    eta: float
    sigma: float
    oracle_calls: int
    matvecs: int
    seconds: float


class History:
    """A row an iteration; `history["gap"]` is a column."""

    columns = Row._fields
    kept: ClassVar[tuple[str, ...]] = ("table",)

    def __init__(self) -> None:
        self._table = np.empty((16, len(self.columns)))  # numbers, as a solve may have millions
        self._count = 0

    @property
    def table(self) -> Array:
        """The rows as one array."""
        return self._table[: self._count]

    @table.setter
    def table(self, rows: Array) -> None:
        self._table, self._count = np.array(rows), len(rows)

    def append(self, row: Row) -> None:
        """One more iteration."""
        if self._count == len(self._table):
            more = np.empty((max(16, self._count), len(self.columns)))
            self._table = np.concatenate([self._table, more])
        self._table[self._count] = row
        self._count += 1

    @property
    def last(self) -> Row:
        """The last row."""
        return self[-1]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return map(_row, self.table)

    def __getitem__(self, column: str | int) -> Any:
        """A column by its name, or a row by its number."""
        if isinstance(column, int):
            return _row(self.table[column])
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}")
        return self.table[:, self.columns.index(column)].copy()

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame, if pandas is installed."""
        import pandas as pd

        return pd.DataFrame(list(self), columns=list(self.columns))

    def __repr__(self) -> str:
        return f"History({len(self)} iterations; columns {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        """The first and the last rows."""
        rows, dots = list(self), ["..."] * len(self.columns)
        shown = [[f"{value:.6g}" for value in row] for row in rows[:SHOWN] + rows[SHOWN:][-SHOWN:]]
        if len(rows) > 2 * SHOWN:
            shown.insert(SHOWN, dots)
        return grid(f"History of {len(self)} iterations", self.columns, shown)


def _row(numbers: Array) -> Row:
    """The row of the numbers; those that count are whole."""
    row = Row(*numbers.tolist())
    calls, matvecs = int(row.oracle_calls), int(row.matvecs)
    return row._replace(k=int(row.k), oracle_calls=calls, matvecs=matvecs)


@dataclass(frozen=True, eq=False)
class Result:
    """An answer and what is proved of it, in the user's units and sense.

    `y` holds the multipliers of Ax in K, with the sign of f + <y, Ax>, f the minimised objective.
    `x` is the point that `objective` and `infeasibility` speak of: repaired, where the problem has
    a repair. `bound` is proved; `gap = |bound - objective| / max(1, |objective|)`. `infeasible` is
    the proof that comes with the status INFEASIBLE, and `separator` the normal d of K behind it:
    min_X <A'd, .> > sup_K <d, .>. `tol` is what was asked for. `why` says which methods were tried,
    and why; `reason` what went wrong, with the status NUMERICAL_ERROR. `reconstruction` says how
    accurate an x is that was kept as a sketch; None for one that was kept whole. Then `tangent`,
    if f is not linear, is the u = Mx before x was made of the sketch, at which the bound takes the
    tangent of f.
    """

    x: Any
    y: Array
    status: Status
    certificate: Certificate
    history: History
    seconds: float
    oracle_calls: int
    matvecs: int
    problem_name: str = "problem"
    method: str = ""
    why: str = ""
    reason: str = ""
    infeasible: Proof | None = None
    oracle_cpu_seconds: float = 0.0
    cpu_seconds: float = 0.0
    tol: float | None = None
    separator: Array | None = None
    reconstruction: Reconstruction | None = None
    tangent: Array | None = None

    @property
    def objective(self) -> float:
        """The user's objective at x."""
        return self.certificate.objective

    @property
    def bound(self) -> float:
        """The proved bound on the optimum."""
        return self.certificate.bound

    @property
    def gap(self) -> float:
        """|bound - objective| / max(1, |objective|)."""
        return self.certificate.gap

    @property
    def infeasibility(self) -> float:
        """dist(Ax, K) / `Problem.infeasibility_unit`, which is max(1, dist(0, K)) in most cases."""
        return self.certificate.infeasibility

    @property
    def iterations(self) -> int:
        """The number of the last iteration; CGAL counts on from that of a warm start."""
        return self.history.last.k if len(self.history) else 0

    def rows(self) -> list[tuple[str, str]]:
        """Names and values, to print."""
        certificate = self.certificate
        return [
            ("status", self.status.value),
            *([("reason", self.reason)] if self.reason else []),
            ("objective", f"{self.objective:.10g}"),
            ("bound", f"{self.bound:.10g} ({certificate.because})"),
            ("gap", f"{self.gap:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            *([("x", str(self.reconstruction))] if self.reconstruction else []),
            ("method", self.method),
            ("iterations", f"{self.iterations}"),
            ("oracle calls", f"{self.oracle_calls} ({self.matvecs} products)"),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def plot(self, *, against: Against = "iterations") -> Figure:
        """Objective and bound, gap and infeasibility, and what an iteration costs: a Figure of
        matplotlib, drawn against "iterations" or "seconds"."""
        from condal.report.curves.panels import plot

        return plot(self.trace(self.problem_name), against=against)

    def trace(self, label: str = "") -> Trace:
        """What is drawn of it."""
        from condal.report.curves.panels import Trace

        columns = {name: self.history[name] for name in History.columns}
        return Trace(columns, self.objective, self.bound, self.gap, label, self.tol)

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        lines = [f"  {name:<{width}}  {value}" for name, value in self.rows()]
        return "\n".join(map(escape_terminal, [f"Result of {self.problem_name}", *lines]))

    def _repr_html_(self) -> str:
        return pairs(f"Result of {self.problem_name}", self.rows())


def unbegun(problem: Problem, method: str, reason: str) -> Result:
    """That of a solve which a piece of the user's ended before there was anything."""
    return Result(
        x=None,
        y=np.zeros(problem.A.size),
        status=Status.NUMERICAL_ERROR,
        certificate=Certificate(np.nan, -problem.sense * np.inf, np.inf, "nothing was computed"),
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
        problem_name=problem.name,
        method=method,
        reason=reason,
    )
