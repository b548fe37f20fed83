"""Domains X: compact convex sets reached by their linear minimisation oracles."""

from condal.domains.balls import GroupL1Ball, KSparse, L2Ball
from condal.domains.birkhoff import Birkhoff
from condal.domains.boxes import Box, LinfBall
from condal.domains.cones import CutCone, CutOrthant
from condal.domains.flows import FlowPolytope
from condal.domains.inequalities import Polytope
from condal.domains.lifted import Hermitian, NuclearBall
from condal.domains.polytopes import Hull, Permutahedron
from condal.domains.product import Product
from condal.domains.spectral import Spectrahedron
from condal.domains.vectors import L1Ball, Simplex, Simplices

__all__ = [
    "Birkhoff",
    "Box",
    "CutCone",
    "CutOrthant",
    "FlowPolytope",
    "GroupL1Ball",
    "Hermitian",
    "Hull",
    "KSparse",
    "L1Ball",
    "L2Ball",
    "LinfBall",
    "NuclearBall",
    "Permutahedron",
    "Polytope",
    "Product",
    "Simplex",
    "Simplices",
    "Spectrahedron",
]
