"""The classes that a checkpoint may hold, each by a name; a file can name no other.

A name is `module.Class`, such as `rounds.LowRankState`, with the last part of the module's path. A
module is imported only when it is listed here and a file names one of its classes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from condal.methods.registry import class_paths

CLASSES = {  # by the paths of their modules; the table of methods has the others
    "condal.certificates.certificate": "Certificate",
    "condal.certificates.bound": "Separation",
    "condal.certificates.ledger": "CertifiedPoint",
    "condal.driver.scaling": "Counts",
    "condal.driver.schedule": "CertificationSchedule",
    "condal.driver.run_record": "StallDetector",
    "condal.linalg.points": "LowRank Outer",
    "condal.linalg.rounding": "Proof",
    "condal.methods.choice": "Choice",
    "condal.methods.rules": "Balanced Classical Const Corrective Decr Exact Fixed FractionOfGap "
    "Given Harmonic LineSearch Never Proportional Smoothed",
    "condal.methods.state": "State Warm",
    "condal.certificates.history": "History Row",
    "condal.result": "Status",
    "condal.storage.choice": "Blocks",
    "condal.storage.sketch": "Reconstruction Sketch",
    "condal.storage.whole": "Atoms Dense Factor Factored",
}
MODULES: dict[str, str] = {  # the path of the module of each name
    f"{path.rpartition('.')[2]}.{name}": path
    for path, names in CLASSES.items()
    for name in names.split()
}
MODULES |= {".".join(path.rsplit(".", 2)[1:]): path.rpartition(".")[0] for path in class_paths()}


def class_of(name: str) -> Any:
    """Return the class of a name; None if the name is not listed."""
    path = MODULES.get(name)
    return None if path is None else getattr(import_module(path), name.rpartition(".")[2])


def is_known(cls: type) -> bool:
    """Whether a class is listed."""
    return MODULES.get(name_of(cls)) == cls.__module__


def name_of(cls: type) -> str:
    """Return `module.Class`, with the last part of the module's path."""
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__qualname__}"


def attributes(cls: Any) -> tuple[str, ...]:
    """Return the names of what a checkpoint holds of an instance."""
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    return tuple(cls._fields if issubclass(cls, tuple) else cls.checkpoint_fields)


def is_cache(cls: type, name: str) -> bool:
    """Whether an attribute is a cached_property: it may be absent."""
    return isinstance(getattr(cls, name, None), cached_property)
