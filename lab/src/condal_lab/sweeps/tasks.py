"""The points of a sweep: a grid of parameters or a list of them, each identified by a digest.

The digest covers the parameters, the options of the solve, and in a chain the point before: all
that the result depends on, except the family and the version of condal, which the folder states.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any, TypeAlias

from condal.errors import ProblemError
from condal.io.strict_json import encoded, plain

Parameters: TypeAlias = dict[str, Any]
Grid: TypeAlias = Mapping[str, Iterable[Any]]
WANTED = (
    "wanted a dict of lists of values, such as {'radius': [1.0, 2.0]}, or a list of dicts of "
    "values, such as [{'radius': 1.0}, {'radius': 2.0}]"
)
MAX_NAME_LENGTH = 80  # of a folder, without the digest
_UNUSUAL = re.compile(r"[^A-Za-z0-9=.,+_-]+")


@dataclass(frozen=True)
class Task:
    """A solve: its parameters, the digest of all that its result depends on, and its place in the
    order of the points."""

    parameters: Parameters
    digest: str
    at: int

    @property
    def what(self) -> str:
        """The parameters as a person reads them."""
        return ", ".join(f"{name}={_word(value)}" for name, value in self.parameters.items())

    @property
    def name(self) -> str:
        """The name of the folder of the result."""
        safe = _UNUSUAL.sub("_", self.what.replace(", ", ","))
        return f"{safe[:MAX_NAME_LENGTH]}-{self.digest[:12]}"


def chains(
    points: Grid | Iterable[Parameters], options: Mapping[str, Any], along: str | None
) -> list[list[Task]]:
    """Return chains of tasks; within a chain each task starts from the result before."""
    groups: dict[str, list[tuple[int, Parameters]]] = {}
    seen: set[str] = set()
    for at, parameters in enumerate(_listed(points)):
        if along is not None and along not in parameters:
            raise ProblemError(
                f"along must be one of the parameters, {', '.join(parameters) or 'which are none'}"
                f"; got {along!r}"
            )
        others = parameters if along is None else {**parameters, along: None}
        groups.setdefault(_digest(others), []).append((at, parameters))
        digest = _digest(parameters)
        if digest in seen:
            raise ProblemError(f"a point is given twice: {Task(parameters, digest, at).what}")
        seen.add(digest)
    if not groups:
        raise ProblemError(f"there are no points; {WANTED}")
    spelled = {name: as_json(value, f"the option {name}") for name, value in options.items()}
    return [_chain(group, spelled, along is not None) for group in groups.values()]


def as_json(value: Any, what: str) -> Any:
    """Return a value as JSON; a dataclass, such as a method, by its class and fields."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: as_json(getattr(value, f.name), what) for f in fields(value)}
        return {"class": f"{type(value).__module__}.{type(value).__qualname__}", **own}
    if isinstance(value, float):
        return encoded(value)
    return plain(value, what)


def _listed(points: Any) -> list[Parameters]:
    if isinstance(points, Mapping):
        axes = {name: _values(name, values) for name, values in points.items()}
        listed: list[Any] = [
            dict(zip(axes, values, strict=True)) for values in product(*axes.values())
        ]
    elif isinstance(points, Iterable) and not isinstance(points, str):
        listed = list(points)
    else:
        raise ProblemError(f"{WANTED}; got {points!r:.60}")
    for point in listed:
        if not isinstance(point, Mapping) or not all(isinstance(name, str) for name in point):
            raise ProblemError(f"{WANTED}; got {point!r:.60} in it")
    return [plain(dict(point), "parameters") for point in listed]


def _values(name: Any, values: Any) -> Sequence[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ProblemError(f"{name!r} must have a list of values; got {values!r:.60}: {WANTED}")
    return list(values)


def _chain(
    group: list[tuple[int, Parameters]], options: dict[str, Any], chained: bool
) -> list[Task]:
    tasks: list[Task] = []
    for at, parameters in group:
        before = tasks[-1].digest if chained and tasks else None
        digest = _digest({"parameters": parameters, "options": options, "before": before})
        tasks.append(Task(parameters, digest, at))
    return tasks


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
