"""Files: formats of other programs, saved results, checkpoints, safe files and strict JSON."""
