"""Domains X: compact convex sets reached by their linear minimisation oracles."""

from condal.domains.product import Product
from condal.domains.spectral import Spectrahedron
from condal.domains.vectors import L1Ball, Simplex

__all__ = ["L1Ball", "Product", "Simplex", "Spectrahedron"]
