"""Conic programs: their standard form, bounds on their trace, and how they are solved."""

from condal.conic.model import ConicModel, conic_model
from condal.conic.program import Block, Program
from condal.conic.trace import TraceBound, UnboundedTraceError, Verdict

__all__ = [
    "Block",
    "ConicModel",
    "Program",
    "TraceBound",
    "UnboundedTraceError",
    "Verdict",
    "conic_model",
]
