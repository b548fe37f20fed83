"""What a solve returns: the answer, its certificate, and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.certificate import Certificate, exact_text, rounded_text
from condal.certificates.evaluation import EXACT_INFEASIBILITY
from condal.certificates.history import History
from condal.linalg.points import Array
from condal.linalg.rounding import Proof
from condal.problem import Problem
from condal.runtime.text import escape_terminal, pairs, table
from condal.storage.sketch import Reconstruction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from condal.io.safe_files import PathLike
    from condal.report.curves import Against, Trace


class Status(Enum):
    """Why a solve ended. The value is the text for the user: what happened; what to do."""

    SOLVED = "solved: gap, infeasibility and its price are proved to be within the tolerance"
    INFEASIBLE = (
        "infeasible: no point of X satisfies the constraints, as is proved; "
        "check b, the bounds and the trace"
    )
    UNBOUNDED = (
        "unbounded: the objective has no bound where the constraints hold, as is proved; "
        "look for a missing constraint or a wrong sign"
    )
    INACCURATE = (
        "stopped short of tol; the best proved gap is in result.gap: scale the data, or raise tol"
    )
    MAX_ITERS = "stopped at the iteration limit; raise max_iters or tol"
    MAX_SECONDS = "stopped at the time limit; raise max_seconds or tol, or pass warm_start=result"
    INTERRUPTED = "interrupted; pass warm_start=result, or resume the checkpoint, to continue"
    STALLED = (
        "stalled: the method can do no more with the accuracy of its oracle; "
        "pass another method, such as condal.CGAL()"
    )
    NUMERICAL_ERROR = (
        "stopped: a piece of the problem returned an unusable value, or a number was not finite; "
        "look for overflow or NaN in your operators, and try condal.check_problem"
    )

    @property
    def title(self) -> str:
        """A headline of a few words."""
        return _TITLES[self]

    @property
    def excludes_optimum(self) -> bool:
        """Whether it is proved that there is no optimum: no objective or bound says anything."""
        return self in (Status.INFEASIBLE, Status.UNBOUNDED)

    @property
    def command_text(self) -> str:
        """The text with the advice in options of the command line."""
        return _COMMAND_TEXTS.get(self, self.value)


_TITLES = {
    Status.SOLVED: "Solved and proved",
    Status.INFEASIBLE: "Infeasible and proved",
    Status.UNBOUNDED: "Unbounded and proved",
    Status.INACCURATE: "Stopped short of the tolerance",
    Status.MAX_ITERS: "Stopped at the iteration limit",
    Status.MAX_SECONDS: "Stopped at the time limit",
    Status.INTERRUPTED: "Interrupted",
    Status.STALLED: "Stalled before the tolerance",
    Status.NUMERICAL_ERROR: "Stopped by a numerical error",
}
_COMMAND_TEXTS = {
    Status.INACCURATE: "stopped short of --tol; the best proved gap is below: raise --tol",
    Status.MAX_ITERS: "stopped at the iteration limit; raise --max-iters or --tol",
    Status.MAX_SECONDS: "stopped at the time limit; raise --max-seconds or --tol",
    Status.INTERRUPTED: "interrupted; the values below are proved for the point reached",
    Status.STALLED: "stalled: the method can do no more; try another --method",
    Status.NUMERICAL_ERROR: "stopped: a product was not finite; look for overflow in the weights",
}


@dataclass(frozen=True, eq=False)
class Result:
    r"""An answer and what is proved of it, in the user's units and sense.

    Parameters
    ----------
    x : array, LowRank, Outer or tuple
        The point that `objective`, `infeasibility` and `price` refer to, repaired where the problem
        has a repair; None if the solve ended before there was a point.
    y : array
        The multipliers of :math:`Ax \in K`, with the sign of :math:`f + \langle y, Ax \rangle`,
        where f is the minimised objective.
    status : Status
        Why the solve ended.
    certificate : Certificate
        What is proved of x and y.
    history : History
        One row per iteration.
    seconds, cpu_seconds, oracle_cpu_seconds : float
        The wall time, the processor time, and the part of it spent in the oracle.
    oracle_calls, matvecs : int
        The calls of the oracle and the products with a vector.
    problem_name, method : str
        The problem, and the methods that were tried.
    why : str
        Which methods were tried, and why.
    reason : str
        What went wrong, with the status NUMERICAL_ERROR.
    infeasible : Proof, optional
        The proof that comes with the status INFEASIBLE.
    separator : array, optional
        The normal d of K behind that proof:
        :math:`\min_X \langle A'd, \cdot \rangle > \sup_K \langle d, \cdot \rangle`.
    tol : float, optional
        The tolerance that was asked for.
    seed : int, optional
        The seed of the solve: with ``seed=result.seed`` a solve has the same random numbers.
    reconstruction : Reconstruction, optional
        How accurate an x is that was stored as a sketch; None for one that was stored whole.
    tangent : array, optional
        The u at which the bound takes the tangent of f, unless it is Mx: the Mx before x was made
        from a sketch, or that of another point, whose dual proved the best bound.
    maximise : bool, optional
        Whether the problem is a maximisation; None if it is not known.
    first_k : int, optional
        The k of the warm start, after which the iterations of this solve are counted.
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
    seed: int | None = None
    separator: Array | None = None
    reconstruction: Reconstruction | None = None
    tangent: Array | None = None
    maximise: bool | None = None
    first_k: int = 0

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
        """|bound - objective| / unit: `Certificate.unit` is mostly max(1, |objective|)."""
        return self.certificate.gap

    @property
    def infeasibility(self) -> float:
        """dist(Ax, K) / `Problem.infeasibility_unit`, which is mostly max(1, dist(0, K))."""
        return self.certificate.infeasibility

    @property
    def price(self) -> float:
        r"""The price of infeasibility.

        :math:`|\langle w, Ax - P_K(Ax) \rangle|` over the unit of the gap, with w the dual that
        proves the bound. If w is optimal, the objective is within gap + price of the optimum.
        """
        return self.certificate.price

    @property
    def bracket(self) -> bool:
        """Whether x is feasible up to rounding, and the optimum between objective and bound."""
        proved = self.certificate
        exact = proved.inside and proved.infeasibility <= EXACT_INFEASIBILITY  # a file may be wrong
        return proved.certified and proved.bracket and exact

    @property
    def iterations(self) -> int:
        """The number of iterations of this solve; `history["k"]` may continue a warm start's."""
        return self.history.last.k - self.first_k if len(self.history) else 0

    @property
    def bounded_above(self) -> bool:
        """Whether the bound is an upper bound, as for a maximisation."""
        if self.maximise is not None:
            return self.maximise
        columns = self.history["objective"], self.history["bound"]
        return _is_upper(*columns, objective=self.objective, bound=self.bound)

    @property
    def surety(self) -> str:
        """How sure the proof of the status is, in words; "" for one that is not proved."""
        proof = self.infeasible if self.status is Status.INFEASIBLE else None
        if self.status is not Status.SOLVED and not self.status.excludes_optimum:
            return ""
        failure = (self.certificate if proof is None else proof).failure
        return f"wrong with probability at most {failure:.1g}" if failure else "deterministic proof"

    def ending(self, text: str) -> str:
        """Return the text of the status with the tolerance and how sure it is."""
        if self.status is Status.SOLVED and self.tol is not None:
            text = f"solved to tol {self.tol:g}"
        return f"{text} ({self.surety})" if self.surety else text

    def rows(self) -> list[tuple[str, str]]:
        """Return the names and values of the summary."""
        return [
            ("status", self.ending(self.status.value)),
            *([("reason", self.reason)] if self.reason else []),
            *self._proved(),
            *([("x", str(self.reconstruction))] if self.reconstruction else []),
            ("method", self.method),
            *([("why", self.why)] if self.why else []),
            ("iterations", f"{self.iterations}"),
            ("oracle calls", f"{self.oracle_calls} ({self.matvecs} products)"),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def _proved(self) -> list[tuple[str, str]]:
        """Return the rows of the certificate; without an optimum, there is only a proof of that."""
        certificate, proof = self.certificate, self.infeasible
        if self.status.excludes_optimum:
            return [("proof", (certificate if proof is None else proof).because)]
        objective = f"{self.objective:.10g}"
        if self.bracket:
            objective = rounded_text(self.objective, up=not self.bounded_above)
        return [
            ("objective", objective),
            ("bound", f"{exact_text(self.bound)} ({certificate.because})"),
            ("gap", f"{self.gap:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("price", f"{self.price:.3g}"),
            *([("optimum", "between objective and bound, up to rounding")] if self.bracket else []),
        ]

    def summary(self) -> str:
        """Return a table of at most 80 columns: the status, what is proved, how, and the cost."""
        rows = [(name, escape_terminal(value)) for name, value in self.rows()]
        return f"{escape_terminal(f'Result of {self.problem_name}')}\n{table(rows)}"

    def plot(self, *, against: Against = "iterations") -> Figure:
        """Draw objective and bound, gap and infeasibility, and the cost of an iteration.

        Parameters
        ----------
        against : {"iterations", "oracle_calls", "seconds"}
            The horizontal axis.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from condal.report.curves import plot

        return plot(self.trace(self.problem_name), against=against)

    def trace(self, label: str = "") -> Trace:
        """Return the columns that are drawn."""
        from condal.report.curves import Trace

        columns = {name: self.history[name] for name in History.columns}
        proved = self.objective, self.bound, self.gap
        return Trace(columns, *proved, label, self.tol, upper=self.bounded_above)

    def save_proof(self, path: PathLike, model: Any, file: PathLike | None = None) -> str:
        """Write a proof of the bound that `checker/check.py` checks without condal.

        Parameters
        ----------
        path : str or os.PathLike
            The proof file to write.
        model : MaxCut or ConicModel
            The model that was solved.
        file : str or os.PathLike, optional
            The rudy or SDPA file that the model was made from; by default one is written beside
            the proof.

        Returns
        -------
        str
            The problem file.
        """
        from condal.problems.proof_files import save_proof

        return save_proof(self, path, model, file)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return pairs(f"Result of {self.problem_name}", self.rows())


def _is_upper(objectives: Array, bounds: Array, *, objective: float, bound: float) -> bool:
    """Return whether a bound is an upper one, by its side in the row of the largest gap.

    Before x is feasible, the objective may be beyond the bound.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # a bound before the first one is infinite
        apart = np.append(bounds - objectives, bound - objective)
    apart = apart[~np.isnan(apart)]
    return apart.size > 0 and bool(apart[np.argmax(np.abs(apart))] >= 0)


def unbegun(problem: Problem, method: str, reason: str) -> Result:
    """Return the result of a solve that failed in user code before the first iteration."""
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
        maximise=problem.maximise,
    )
