"""One thread for BLAS, set before NumPy is first imported, and how Hypothesis runs."""

from __future__ import annotations

import os

from hypothesis import settings

# Threads that wait for each other make matrices of this size a hundred times slower.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

settings.register_profile("condal", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("condal")
