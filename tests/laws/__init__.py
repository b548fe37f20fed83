"""The instances that the laws are tried on: a new class is tested by being listed."""

from laws.domains import DOMAINS, DomainCase
from laws.factors import derivatives_obey_their_law
from laws.functions import FUNCTIONS
from laws.maps import MAPS, MapCase
from laws.proximable import INF, LAWS, ProximableCase, pieces_obey_their_law
from laws.sets import SETS, long_set
from laws.smooth import SMOOTH, SmoothCase
from laws.spectra import (
    ENGINES,
    SPECTRA,
    STORAGES,
    Counted,
    Spectrum,
    exactly,
    is_below_spectrum,
    random_graph,
    spectrum,
    torus,
)
from spaces import (
    Hermitians,
    Matrices,
    Rectangles,
    Tuples,
    Vectors,
    combination,
    coordinates,
    length,
    matrix_of,
    public_classes,
    random_hermitian,
    random_lowrank,
    random_symmetric,
)

__all__ = [
    "DOMAINS",
    "ENGINES",
    "FUNCTIONS",
    "INF",
    "LAWS",
    "MAPS",
    "SETS",
    "SMOOTH",
    "SPECTRA",
    "STORAGES",
    "Counted",
    "DomainCase",
    "Hermitians",
    "MapCase",
    "Matrices",
    "ProximableCase",
    "Rectangles",
    "SmoothCase",
    "Spectrum",
    "Tuples",
    "Vectors",
    "combination",
    "coordinates",
    "derivatives_obey_their_law",
    "exactly",
    "is_below_spectrum",
    "length",
    "long_set",
    "matrix_of",
    "pieces_obey_their_law",
    "public_classes",
    "random_graph",
    "random_hermitian",
    "random_lowrank",
    "random_symmetric",
    "spectrum",
    "torus",
]
