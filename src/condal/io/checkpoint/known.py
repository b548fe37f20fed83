"""The classes that a checkpoint may hold, each by a name: a file can name no other.

A name is `module.Class`, such as `method.LowRankState`. Nothing is imported because a file
says so: a name that is not here is refused.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from condal.certificates.certificate import Certificate
from condal.certificates.infeasibility import Separation
from condal.certificates.ledger import CertifiedPoint
from condal.driver.counting import Counts
from condal.driver.schedule import CertificationSchedule
from condal.linalg.points import LowRank, Outer
from condal.linalg.proof import Proof
from condal.methods import cgal, hull, rules
from condal.methods import choice as auto
from condal.methods.classic import cgs, gdmm, ial, unconstrained, upd
from condal.methods.interior import method as interior
from condal.methods.lowrank import method as lowrank
from condal.methods.projection import anderson, primal_dual, splitting
from condal.methods.state import State, Warm
from condal.result import History, Row, Status
from condal.storage import Atoms, Blocks, Dense, Factor, Factored, Sketch, TwoSidedSketch
from condal.storage.reconstruction import Reconstruction

METHODS: tuple[type, ...] = (
    cgal.CGAL,
    cgs.CGS,
    gdmm.GDMM,
    ial.IAL,
    interior.InteriorPoint,
    lowrank.LowRankCGAL,
    primal_dual.PrimalDual,
    splitting.Splitting,
    unconstrained.SketchyCGM,
    unconstrained.SmoothedCG,
    upd.AUPD,
    upd.UPD,
)
RULES: tuple[type, ...] = (
    rules.Balanced,
    rules.Classical,
    rules.Const,
    rules.Decr,
    rules.Exact,
    rules.Fixed,
    rules.FractionOfGap,
    rules.Given,
    rules.Harmonic,
    rules.LineSearch,
    rules.Never,
    rules.Smoothed,
    rules.Whole,
)
STATES: tuple[type, ...] = (
    State,
    Warm,
    anderson.Anderson,
    cgal.CGALState,
    cgs.Prox,
    hull.Hull,
    ial.Loops,
    interior.BestInteriorPoint,
    interior.InteriorState,
    lowrank.LowRankState,
    primal_dual.PrimalDualState,
    splitting.SplittingState,
    upd.OracleAnswer,
    upd.UPDState,
)
POINTS: tuple[type, ...] = (LowRank, Outer)
STORAGES: tuple[type, ...] = (Atoms, Blocks, Dense, Factor, Factored, Sketch, TwoSidedSketch)
DRIVER: tuple[type, ...] = (
    auto.Choice,
    auto.StallDetector,
    CertificationSchedule,
    CertifiedPoint,
    Certificate,
    Counts,
    History,
    Proof,
    Reconstruction,
    Row,
    Separation,
    Status,
)


def name_of(cls: type) -> str:
    """`module.Class`, of the innermost module."""
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__qualname__}"


def kind_of(cls: type) -> str:
    """What a class is to a checkpoint: an "enum", a "record", a "row", or an "object"."""
    if issubclass(cls, Enum):
        return "enum"
    if is_dataclass(cls):
        return "record"
    return "row" if issubclass(cls, tuple) and hasattr(cls, "_fields") else "object"


def attributes(cls: Any) -> tuple[str, ...]:
    """The names of what is held of an instance."""
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    return tuple(cls._fields if kind_of(cls) == "row" else cls.checkpoint_fields)


def is_whole(cls: type) -> bool:
    """Whether the attributes that are held are all there are: a property among them stands for
    others."""
    return not any(isinstance(getattr(cls, name, None), property) for name in attributes(cls))


def is_cache(cls: type, name: str) -> bool:
    """Whether an attribute is a cached_property: it may be there or not."""
    return isinstance(getattr(cls, name, None), cached_property)


KNOWN: dict[str, type] = {
    name_of(cls): cls for cls in (*METHODS, *RULES, *STATES, *POINTS, *STORAGES, *DRIVER)
}
