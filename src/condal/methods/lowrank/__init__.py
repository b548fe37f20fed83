"""The low-rank corrective method: x = R R', with sweeps and a trust region over R."""
