"""The names of the methods: one table that the command line, checkpoints and warm starts read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from condal.errors import ProblemError
from condal.types import Method


@dataclass(frozen=True)
class NamedMethod:
    """How to build a method: its class or function, and its rules, by the names of their classes in
    condal.methods.rules; all are imported on use.

    `command_line` tells whether `--method` offers it, `distributed` whether ranks can share it.
    """

    home: str
    rules: Mapping[str, str] = field(default_factory=dict)
    command_line: bool = True
    distributed: bool = False

    def __call__(self) -> Method:
        """Build the method."""
        rules = {parameter: _imported(f"rules.{rule}")() for parameter, rule in self.rules.items()}
        method: Method = _imported(self.home)(**rules)
        return method


def _imported(name: str) -> Any:
    """Return an object of condal.methods by its module and name."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"condal.methods.{module}"), attribute)


METHODS: dict[str, NamedMethod] = {
    "cgal": NamedMethod("cgal.CGAL", distributed=True),
    "cgal-decr": NamedMethod("cgal.CGAL", {"sigma": "Decr"}, distributed=True),
    "cgal-ls": NamedMethod("cgal.CGAL", {"eta": "LineSearch"}, distributed=True),
    "cgal-fc": NamedMethod("cgal.corrective"),
    "lowrank": NamedMethod("lowrank.method.LowRankCGAL"),
    "accelerated": NamedMethod("accelerated.method.AcceleratedGradient"),
    "newton": NamedMethod("surface.method.LowRankNewton"),
    "splitting": NamedMethod("projection.splitting.Splitting"),
    "interior-point": NamedMethod("interior.method.InteriorPoint"),
    "primal-dual": NamedMethod("projection.primal_dual.PrimalDual"),
    "hcgm": NamedMethod("cgal.hcgm", distributed=True),
    "fw-al": NamedMethod("cgal.fwal", distributed=True),
    "ial": NamedMethod("classic.ial.IAL"),
    "upd": NamedMethod("classic.upd.UPD"),
    "aupd": NamedMethod("classic.upd.AUPD"),
    "gdmm": NamedMethod("classic.variants.GDMM", command_line=False),
    "cgs": NamedMethod("classic.cgs.CGS", command_line=False),
    "smoothed-cg": NamedMethod("classic.variants.SmoothedCG", command_line=False),
    "sketchy-cgm": NamedMethod("classic.variants.SketchyCGM", command_line=False),
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
        )
    return METHODS[method]()


def method_classes() -> tuple[type, ...]:
    """Return the class of every method."""
    return tuple(dict.fromkeys(type(build()) for build in METHODS.values()))
