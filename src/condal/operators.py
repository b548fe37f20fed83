"""Symmetric operators: the gradients of spectral domains."""

from condal.linalg.symmetric import Symmetric

__all__ = ["Symmetric"]
