"""The methods of the experiments, the ranges of their parameters, and how these are tuned.

Parameters are in the units of the normalised problem that `solve` passes to a method, and are tuned
by factors of 10, until a setting beats both neighbours in each of them. A setting is a tuple of
exponents of 10. The search has no state: the next settings follow from the scores known so far, so
an interrupted run can resume. CGS, Lan's smoothed CG and storage-optimal CGM are left out because
they do not support a constraint Ax in K, GDMM because it needs polytopes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from condal.methods import CGAL, corrective, fwal, hcgm
from condal.methods.rules import AccuracyRule, Decr, LineSearch
from condal.types import Method
from condal_lab.methods import AUPD, IAL, UPD

Setting = tuple[int, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter with values 10^low, ..., 10^high, searched from 10^start."""

    name: str
    start: int
    low: int
    high: int


def next_settings(
    parameters: Sequence[Parameter], scores: Mapping[Setting, float]
) -> list[Setting]:
    """Return the settings to try next; none if the best one beats all its neighbours."""
    centre = best(scores, parameters) if scores else tuple(p.start for p in parameters)
    return [s for s in [centre, *_neighbours(parameters, centre)] if s not in scores]


def best(scores: Mapping[Setting, float], parameters: Sequence[Parameter]) -> Setting:
    """Return the setting of the lowest score; ties go to the one nearest to the start."""

    def order(setting: Setting) -> tuple[float, int, Setting]:
        steps = sum(abs(e - p.start) for e, p in zip(setting, parameters, strict=True))
        return scores[setting], steps, setting

    return min(scores, key=order)


def at_edge(parameters: Sequence[Parameter], setting: Setting) -> tuple[str, ...]:
    """Return the parameters at an end of their range, of which one neighbour was never tried."""
    return tuple(p.name for p, e in zip(parameters, setting, strict=True) if e in (p.low, p.high))


def _neighbours(parameters: Sequence[Parameter], centre: Setting) -> list[Setting]:
    """Return the settings with one parameter times 1/10 or 10, within its range."""
    return [
        (*centre[:i], centre[i] + step, *centre[i + 1 :])
        for i, p in enumerate(parameters)
        for step in (-1, 1)
        if p.low <= centre[i] + step <= p.high
    ]


@dataclass(frozen=True)
class Contender:
    """A method with its parameters; `stairs` if only some rows of its curve are iterates."""

    name: str
    label: str
    parameters: tuple[Parameter, ...]
    build: Callable[..., Method]
    stairs: bool = False

    def values(self, setting: Setting) -> dict[str, float]:
        """Return the parameters by name: 10 to the exponents of the setting."""
        named = zip(self.parameters, setting, strict=True)
        return {p.name: float(f"1e{exponent}") for p, exponent in named}

    def method(self, setting: Setting, tol: AccuracyRule | None = None) -> Method:
        """Return the method, with the oracle's accuracy rule replaced if one is given."""
        method = self.build(*self.values(setting).values())
        if tol is None or not hasattr(method, "tol"):
            return method
        return replace(method, tol=tol)  # type: ignore[type-var]  # methods are records

    def describe(self, setting: Setting) -> str:
        """Return the parameters as text: lam0 = 0.1, rho = 1."""
        return ", ".join(f"{name} = {value:g}" for name, value in self.values(setting).items())


LAM0 = Parameter("lam0", start=0, low=-4, high=4)
LAM = Parameter("lam", start=1, low=-3, high=5)
EPS = Parameter("eps", start=-1, low=-6, high=2)
EPS0 = Parameter("eps0", start=-1, low=-4, high=2)


_ial_by_line_search = partial(IAL, eta=LineSearch())
CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        Contender("cgal", "CGAL (const.)", (LAM0,), CGAL),
        Contender("cgal-decr", "CGAL (decr.)", (LAM0,), lambda lam0: CGAL(lam0, sigma=Decr())),
        Contender("cgal-ls", "CGAL (line s.)", (LAM0,), lambda lam0: CGAL(lam0, eta=LineSearch())),
        Contender("corrective", "CGAL (correct.)", (LAM0,), corrective),
        Contender("hcgm", "HCGM", (LAM0,), hcgm),
        # FW-AL requires rho <= 1.
        Contender("fwal", "FW-AL", (LAM, Parameter("rho", start=-1, low=-4, high=0)), fwal),
        Contender("ial", "IAL", (LAM, EPS0), IAL, stairs=True),
        Contender("ial-ls", "IAL (line s.)", (LAM, EPS0), _ial_by_line_search, stairs=True),
        Contender("upd", "UPD", (EPS,), UPD),
        Contender("aupd", "AUPD", (EPS,), AUPD),
    )
}
