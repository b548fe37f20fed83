"""The names of the methods: one table that the command line, checkpoints and warm starts read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from condal.errors import MissingExtra, ProblemError
from condal.runtime.extras import LAB
from condal.runtime.text import did_you_mean
from condal.types import Method


@dataclass(frozen=True)
class NamedMethod:
    """How to build a method: its class or function, and its rules, by the names of their classes in
    condal.methods.rules; all are imported on use.

    `options` are the parameters that a command may set, by the name of the option. `distributed`
    tells whether ranks can share the method. `records` are the classes of what its states carry,
    which a checkpoint may hold, by modules of the same package.
    """

    home: str
    records: str = ""
    rules: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    distributed: bool = False

    def class_paths(self) -> Iterator[str]:
        """Yield the paths of its class, if it is one, and of its records: `module.Class`."""
        module, _, name = self.home.rpartition(".")
        whole = module if module.startswith(LABORATORY) else f"condal.methods.{module}"
        package = whole.rpartition(".")[0]
        yield from [f"{whole}.{name}"] if name[0].isupper() else []
        yield from (f"{package}.{record}" for record in self.records.split())

    def __call__(self, **given: Any) -> Method:
        """Build the method with the given options; a D_Y of "paper" is the paper's rule."""
        if given.get("D_Y") == PAPER:
            given["D_Y"] = _imported("rules.Proportional")()
        rules = {parameter: _imported(f"rules.{rule}")() for parameter, rule in self.rules.items()}
        parameters = {self.options[name]: value for name, value in given.items()}
        method: Method = _imported(self.home)(**rules, **parameters)
        return method


def _imported(name: str) -> Any:
    """Return an object by its module and name: one of condal.methods, or of the laboratory."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith(LABORATORY):
        return getattr(import_module(f"condal.methods.{module}"), attribute)
    if find_spec(LABORATORY) is None:
        raise MissingExtra(
            f"the method {attribute}, for comparison only, is in the package {LAB}; install with: "
            f"pip install {LAB}"
        )
    return getattr(import_module(module), attribute)


LABORATORY = "condal_lab"  # its package in Python
PAPER = "paper"  # as a D_Y: D_X |A| lam0
UNITS = {"normalise": "normalise"}
PENALTY = {"lam0": "lam0", **UNITS}
FIXED_PENALTY = {"lam0": "lam", **UNITS}
ACCURACY = {"eps": "eps", **UNITS}
CGAL = {**PENALTY, "D_Y": "D_Y"}

METHODS: dict[str, NamedMethod] = {
    "cgal": NamedMethod("cgal.CGAL", "cgal.CGALState hull.Hull", options=CGAL, distributed=True),
    "cgal-decr": NamedMethod("cgal.CGAL", rules={"sigma": "Decr"}, options=CGAL, distributed=True),
    "cgal-ls": NamedMethod(
        "cgal.CGAL", rules={"eta": "LineSearch"}, options=CGAL, distributed=True
    ),
    "cgal-fc": NamedMethod("cgal.corrective", options=CGAL),
    "cgal-smoothed": NamedMethod("cgal.CGAL", rules={"sigma": "Smoothed"}, options=CGAL),
    "lowrank": NamedMethod("lowrank.method.LowRankCGAL", "rounds.LowRankState", distributed=True),
    "accelerated": NamedMethod("accelerated.method.AcceleratedGradient", "step.AcceleratedState"),
    "newton": NamedMethod(
        "surface.method.LowRankNewton",
        "run.SurfaceState oracle.RankPolicy manifold.Relaxation",
    ),
    "spheres": NamedMethod("spheres.method.SphereSweeps", "method.SphereState", distributed=True),
    "splitting": NamedMethod(
        "projection.splitting.Splitting", "splitting.SplittingState anderson.Anderson"
    ),
    "interior-point": NamedMethod("interior.method.InteriorPoint", "method.InteriorState"),
    "primal-dual": NamedMethod("projection.primal_dual.PrimalDual", "primal_dual.PrimalDualState"),
    "hcgm": NamedMethod("cgal.hcgm", options=PENALTY, distributed=True),
    "fw-al": NamedMethod("cgal.fwal", options={**FIXED_PENALTY, "rho": "rho"}, distributed=True),
    "ial": NamedMethod(
        "condal_lab.methods.ial.IAL", "ial.IALState", options={**FIXED_PENALTY, "eps": "eps0"}
    ),
    "upd": NamedMethod(
        "condal_lab.methods.upd.UPD", "upd.UPDState upd.OracleAnswer", options=ACCURACY
    ),
    "aupd": NamedMethod("condal_lab.methods.upd.AUPD", options=ACCURACY),
    "gdmm": NamedMethod(
        "condal_lab.methods.variants.GDMM", options={**FIXED_PENALTY, "rho": "rho"}
    ),
    "cgs": NamedMethod("condal_lab.methods.cgs.CGS", "cgs.CGSState", options=FIXED_PENALTY),
    "smoothed-cg": NamedMethod("condal_lab.methods.variants.SmoothedCG", options=UNITS),
    "sketchy-cgm": NamedMethod("condal_lab.methods.variants.SketchyCGM"),
    "recovery": NamedMethod("recovery.DualRecovery", "recovery.RecoveryState"),
    "sketchy-cgal": NamedMethod(
        "condal_lab.methods.variants.SketchyCGAL", options={"lam0": "lam0"}
    ),
}


AUTOMATIC = "auto"  # the name for the choice by problem and tolerance


def method_of(method: str) -> Method | None:
    """Return the method of a name; None for `AUTOMATIC`."""
    if method == AUTOMATIC:
        return None
    if method not in METHODS:
        raise ProblemError(
            f"method must be a record such as condal.CGAL(), or one of the names "
            f"{', '.join([AUTOMATIC, *METHODS])}; got {method!r}"
            f"{did_you_mean(method, METHODS)}"
        )
    return METHODS[method]()


def class_paths() -> list[str]:
    """Return the paths of the classes of all methods and of their records, each once."""
    paths = (path for method in METHODS.values() for path in method.class_paths())
    return list(dict.fromkeys(paths))
