"""Eigenvalue engines for the linear minimisation oracle of spectral domains."""

from condal.linalg.eigen import Automatic, Engine, lowest
from condal.linalg.engines import Arpack, Dense, Lanczos
from condal.linalg.lanczos import Eigenpair

__all__ = ["Arpack", "Automatic", "Dense", "Eigenpair", "Engine", "Lanczos", "lowest"]
