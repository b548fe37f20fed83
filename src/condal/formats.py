"""Readers and writers for graphs, semidefinite programs, points, ratings and pose graphs."""

from condal.io import formats as _formats
from condal.io.formats import *  # noqa: F403 - they are listed there
from condal.problems.conic.files import SdpaProblem, read_sdpa, read_sedumi, write_sdpa

__all__ = ["SdpaProblem", "read_sdpa", "read_sedumi", "write_sdpa"]
__all__ += dir(_formats)
