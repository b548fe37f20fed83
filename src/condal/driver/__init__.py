"""The one driver: solve, run, stop, certify, record, scale and write checkpoints."""
