"""The versions of condal and of the libraries that it computes with."""

import platform

import numpy as np
import scipy

__version__ = "0.1.0"  # as in pyproject.toml


def versions() -> dict[str, str]:
    """Return the versions of condal, Python, NumPy and SciPy."""
    return {
        "condal": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
