"""The methods of the experiments, and the ranges of their parameters.

Parameters are in the units of the normalised problem that `solve` passes to a method. CGS, Lan's
smoothed CG and storage-optimal CGM are left out because they do not support a constraint Ax in K,
GDMM because it needs polytopes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from condal.methods import CGAL, corrective, fwal, hcgm
from condal.methods.rules import AccuracyRule, Decr, LineSearch
from condal.types import Method
from condal_lab.experiments.tune import Parameter, Setting
from condal_lab.methods import AUPD, IAL, UPD


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


def _ial_by_line_search(lam: float, eps0: float) -> IAL:
    return IAL(lam, eps0, eta=LineSearch())


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
