"""The same problem over many processes: PETSc and SLEPc over MPI.

minimise <C, x> over x psd with a constraint on its diagonal: the rows of C, of the sketch of x, of
the images and of the duals are owned by ranks, and CGAL runs on them as it does on one machine.
"""

from condal.distributed.maxcut import DistributedMaxCut, max_cut, read_max_cut
from condal.distributed.memory import estimate, require_memory, told
from condal.distributed.owned import Owned
from condal.distributed.parts import is_parts, read_about
from condal.distributed.reading import read_rows
from condal.distributed.sketch import DistributedSketch
from condal.distributed.solve import RANK, TOL, resume, solve
from condal.distributed.team import Team

__all__ = [
    "RANK",
    "TOL",
    "DistributedMaxCut",
    "DistributedSketch",
    "Owned",
    "Team",
    "estimate",
    "is_parts",
    "max_cut",
    "read_about",
    "read_max_cut",
    "read_rows",
    "require_memory",
    "resume",
    "solve",
    "told",
]
