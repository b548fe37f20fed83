"""Eigenvalue engines for the linear minimisation oracle of spectral domains."""

from condal.linalg.eigen import Arpack, Automatic, Dense, Engine, Lanczos, lowest
from condal.linalg.lanczos import Eigenpair

__all__ = ["Arpack", "Automatic", "Dense", "Eigenpair", "Engine", "Lanczos", "lowest"]
