"""The names of the methods: one table that the command line, checkpoints and warm starts read."""

from __future__ import annotations

from collections.abc import Mapping
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
    which a checkpoint may hold.
    """

    home: str
    rules: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    distributed: bool = False
    records: tuple[str, ...] = ()

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
    "cgal": NamedMethod(
        "cgal.CGAL", options=CGAL, distributed=True, records=("cgal.CGALState", "hull.Hull")
    ),
    "cgal-decr": NamedMethod("cgal.CGAL", {"sigma": "Decr"}, CGAL, distributed=True),
    "cgal-ls": NamedMethod("cgal.CGAL", {"eta": "LineSearch"}, CGAL, distributed=True),
    "cgal-fc": NamedMethod("cgal.corrective", options=CGAL),
    "lowrank": NamedMethod(
        "lowrank.method.LowRankCGAL", distributed=True, records=("lowrank.rounds.LowRankState",)
    ),
    "accelerated": NamedMethod(
        "accelerated.method.AcceleratedGradient", records=("accelerated.step.AcceleratedState",)
    ),
    "newton": NamedMethod(
        "surface.method.LowRankNewton",
        records=(
            "surface.run.SurfaceState",
            "surface.rank_policy.RankPolicy",
            "surface.manifold.Relaxation",
        ),
    ),
    "spheres": NamedMethod(
        "spheres.method.SphereSweeps", distributed=True, records=("spheres.method.SphereState",)
    ),
    "splitting": NamedMethod(
        "projection.splitting.Splitting",
        records=("projection.splitting.SplittingState", "projection.anderson.Anderson"),
    ),
    "interior-point": NamedMethod(
        "interior.method.InteriorPoint",
        records=("interior.method.InteriorState", "interior.method.BestInteriorPoint"),
    ),
    "primal-dual": NamedMethod(
        "projection.primal_dual.PrimalDual", records=("projection.primal_dual.PrimalDualState",)
    ),
    "hcgm": NamedMethod("cgal.hcgm", options=PENALTY, distributed=True),
    "fw-al": NamedMethod("cgal.fwal", options={**FIXED_PENALTY, "rho": "rho"}, distributed=True),
    "ial": NamedMethod(
        "condal_lab.methods.ial.IAL",
        options={**FIXED_PENALTY, "eps": "eps0"},
        records=("condal_lab.methods.ial.IALState",),
    ),
    "upd": NamedMethod(
        "condal_lab.methods.upd.UPD",
        options=ACCURACY,
        records=("condal_lab.methods.upd.UPDState", "condal_lab.methods.upd.OracleAnswer"),
    ),
    "aupd": NamedMethod("condal_lab.methods.upd.AUPD", options=ACCURACY),
    "gdmm": NamedMethod(
        "condal_lab.methods.variants.GDMM", options={**FIXED_PENALTY, "rho": "rho"}
    ),
    "cgs": NamedMethod(
        "condal_lab.methods.cgs.CGS",
        options=FIXED_PENALTY,
        records=("condal_lab.methods.cgs.CGSState",),
    ),
    "smoothed-cg": NamedMethod("condal_lab.methods.variants.SmoothedCG", options=UNITS),
    "sketchy-cgm": NamedMethod("condal_lab.methods.variants.SketchyCGM"),
    "recovery": NamedMethod("recovery.DualRecovery", records=("recovery.RecoveryState",)),
    "sketchy-cgal": NamedMethod(
        "condal_lab.methods.sketchy_cgal.SketchyCGAL", options={"lam0": "lam0"}
    ),
}


AUTOMATIC = "auto"  # the name for the choice by problem and tolerance


def method_of(method: Any) -> Any:
    """Return the method of a name, None for `AUTOMATIC`, and anything else unchanged."""
    if not isinstance(method, str):
        return method
    if method == AUTOMATIC:
        return None
    if method not in METHODS:
        raise ProblemError(
            f"method must be a record such as condal.CGAL(), or one of the names "
            f"{', '.join([AUTOMATIC, *METHODS])}; got {method!r}"
            f"{did_you_mean(method, METHODS)}"
        )
    return METHODS[method]()


def method_classes() -> tuple[type, ...]:
    """Return the class of every method that is installed."""
    with_lab = find_spec(LABORATORY) is not None
    built = (m for m in METHODS.values() if with_lab or not m.home.startswith(LABORATORY))
    return tuple(dict.fromkeys(type(build()) for build in built))


def class_paths() -> set[str]:
    """Return the paths of all methods and of their records, each as `module.Class`."""
    homes = {m.home for m in METHODS.values() if m.home.rpartition(".")[2][0].isupper()}
    records = {record for m in METHODS.values() for record in m.records}
    return {p if p.startswith(LABORATORY) else f"condal.methods.{p}" for p in homes | records}
