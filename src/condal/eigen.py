"""Eigenvalue engines for the linear minimisation oracle of spectral domains."""

from condal.linalg.eigen import Automatic, Dense, Engine, Lanczos, lowest
from condal.linalg.lanczos import Eigenpair

__all__ = ["Automatic", "Dense", "Eigenpair", "Engine", "Lanczos", "lowest"]
