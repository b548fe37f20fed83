"""Methods: frozen records, each with one generator, `iterates`."""

from condal.methods.cgal import CGAL, corrective, fwal, hcgm
from condal.methods.cgs import CGS
from condal.methods.gdmm import GDMM
from condal.methods.ial import IAL
from condal.methods.interior import InteriorPoint
from condal.methods.lowrank import LowRankCGAL
from condal.methods.primal_dual import PrimalDual
from condal.methods.splitting import Splitting
from condal.methods.unconstrained import SketchyCGM, SmoothedCG
from condal.methods.upd import AUPD, UPD

__all__ = [
    "AUPD",
    "CGAL",
    "CGS",
    "GDMM",
    "IAL",
    "UPD",
    "InteriorPoint",
    "LowRankCGAL",
    "PrimalDual",
    "SketchyCGM",
    "SmoothedCG",
    "Splitting",
    "corrective",
    "fwal",
    "hcgm",
]
