"""The low-rank corrective method: x = R R', R improved by sweeps and a trust region."""
