"""Many problems at once: families solved over grids, on processes or a cluster, into a folder."""

from condal.sweeps.sweep import sweep
from condal.sweeps.table import Entry, Table
from condal.sweeps.watch import Lines

__all__ = ["Entry", "Lines", "Table", "sweep"]
