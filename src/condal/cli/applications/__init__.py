"""The applications of `condal solve --as NAME`, one module each, imported when they are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from condal.cli.application import Application

__all__ = ["APPLICATIONS"]


class _Applications(Mapping[str, Application]):
    """Applications by name: `a-name` is the constant A_NAME of the module `a_name`."""

    def __init__(self, *names: str) -> None:
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Application:
        if name not in self._names:
            raise KeyError(name)
        module = name.replace("-", "_")
        application: Application = getattr(import_module(f"{__name__}.{module}"), module.upper())
        return application

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


APPLICATIONS = _Applications(
    "max-cut",
    "theta",
    "communities",
    "bisection",
    "sync",
    "k-means",
    "qap",
    "matrix-completion",
    "phase-retrieval",
    "state-tomography",
    "pose-graph",
    "generalised-eigenvector",
    "sdp",
)
