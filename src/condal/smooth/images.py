"""The map M of f(x) = phi(Mx), and data that go with its images."""

from __future__ import annotations

from typing import Any

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.maps.operator import as_map
from condal.runtime.arguments import finite_array
from condal.types import LinearMap


def with_data(M: Any, values: Any, name: str, owner: str) -> tuple[LinearMap, Array]:
    """Return M as a linear map, and a copy of the values, one per entry of its images."""
    A, data = as_map(M, "M"), finite_array(values, name, ndim=1).copy()
    if data.size != A.size:
        raise ProblemError(
            f"{owner}: M makes images of length {A.size}, but {name} has length {data.size}"
        )
    return A, data
