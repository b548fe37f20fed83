"""The version of condal, which pyproject.toml reads from here, and of what it computes with."""

__version__ = "0.1.0"


def versions() -> dict[str, str]:
    """Return the versions of condal, Python, NumPy and SciPy."""
    import platform

    import numpy as np
    import scipy

    return {
        "condal": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
