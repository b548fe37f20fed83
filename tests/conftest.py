"""One thread for BLAS, set before NumPy is first imported, how Hypothesis runs, and permissions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

import rights

# Threads that wait for each other make matrices of this size a hundred times slower.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

settings.register_profile("condal", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("condal")


@pytest.fixture
def permissions() -> Iterator[None]:
    """What they forbid is forbidden, to root as well."""
    if getattr(os, "geteuid", int)() != 0:
        yield
    elif sys.platform == "linux":
        with rights.laid_down():
            yield
    else:
        pytest.skip("nothing is forbidden here: Windows, or root where it has no capabilities")
