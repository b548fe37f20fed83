from condal_lab import methods as methods
from condal_lab import sweeps as sweeps
from condal_lab.sweeps.run import sweep as sweep
