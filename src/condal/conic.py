"""Conic programs: standard form, trace bounds and models."""

from condal.problems.conic import (
    Block,
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
    "ConicModel",
    "Program",
    "TraceBound",
    "UnboundedTraceError",
    "Verdict",
    "certify",
    "conic_model",
]
