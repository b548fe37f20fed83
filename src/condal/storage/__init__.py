"""What is kept of x: all of it, its factors, a sketch, or the atoms it was made from."""

from condal.storage.atoms import Atoms
from condal.storage.blocks import Blocks
from condal.storage.choice import automatic, require_fit
from condal.storage.factored import Factored
from condal.storage.reconstruction import Reconstruction
from condal.storage.sketch import Sketch
from condal.storage.two_sided import TwoSidedSketch
from condal.storage.whole import Dense, Factor

__all__ = [
    "Atoms",
    "Blocks",
    "Dense",
    "Factor",
    "Factored",
    "Reconstruction",
    "Sketch",
    "TwoSidedSketch",
    "automatic",
    "require_fit",
]
