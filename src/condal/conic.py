"""Conic programs: standard form, trace bounds and models."""

from condal.problems.conic import (
    Block,
    CheckedAnswer,
    ConicModel,
    Program,
    TraceBound,
    UnboundedTraceError,
    Verdict,
    certify,
    conic_model,
)

__all__ = [
    "Block",
    "CheckedAnswer",
    "ConicModel",
    "Program",
    "TraceBound",
    "UnboundedTraceError",
    "Verdict",
    "certify",
    "conic_model",
]
