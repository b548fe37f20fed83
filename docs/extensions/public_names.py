"""Which names are public, where each of them is documented, and how users write it.

A name is shown as it is imported, `condal.Simplex` and not `condal.domains.vectors.Simplex`. Which
modules have a page is told by the files in the folder `api`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import condal

PAGES = Path(__file__).parents[1] / "api"


def names_of(module: str) -> Iterator[tuple[str, Any]]:
    """The public names that belong on the page of a module, as users write them."""
    here = import_module(module)
    for name in _listed(here):
        obj = getattr(here, name)
        if not inspect.ismodule(obj) and not name.startswith("__"):
            path = f"{module}.{name}"
            if module != "condal" and getattr(condal, name, None) is obj:
                path = f"condal.{name}"
            if module != "condal" or _home(obj) == "condal":
                yield path, obj
    if module != "condal":
        for name in condal.__all__:
            obj = getattr(condal, name)
            if _home(obj) == module and name not in _listed(here):
                yield f"condal.{name}", obj


@cache
def documented() -> dict[str, str]:
    """Where each public name is documented, by every way to write it."""
    found: dict[str, str] = {}
    for module in modules():
        found[module] = module
        for path, obj in names_of(module):
            name = path.rpartition(".")[2]
            found.setdefault(path, path)
            found.setdefault(f"{module}.{name}", path)
            if inspect.isclass(obj) or inspect.isfunction(obj):
                found.setdefault(f"{obj.__module__}.{obj.__qualname__}", path)
    return found


def public_path(name: str) -> str | None:
    """Where what a docstring calls by this name is documented; None if it is not."""
    for path in (name, f"condal.{name}", *(f"{module}.{name}" for module in modules())):
        found = documented().get(path)
        if found is not None and found not in modules():
            return found
    return None


@cache
def modules() -> tuple[str, ...]:
    """The modules that have a page, `condal` first."""
    stems = (path.stem for path in sorted(PAGES.glob("*.md")))
    return ("condal", *(f"condal.{stem}" for stem in stems if stem not in ("index", "condal")))


def _listed(module: ModuleType) -> list[str]:
    """`__all__`, or else the public classes and functions that are made in the module."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, obj in vars(module).items()
        if not name.startswith("_") and getattr(obj, "__module__", None) == module.__name__
    ]


def _home(obj: Any) -> str:
    """The module whose page an object of `condal` belongs on."""
    inside = f"{getattr(obj, '__module__', '')}."
    homes = [m for m in modules() if m != "condal" and inside.startswith(f"{m}.")]
    return max(homes, key=len, default="condal")
