"""The public names: which there are, where each is documented, and how users write it.

A name is shown as it is imported, `condal.Simplex` and not `condal.domains.vectors.Simplex`. A
module has a page if there is a file for it in the folder `api`.
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
    """Yield the public names that belong on the page of a module, as users write them."""
    imported = import_module(module)
    for name in _listed(imported):
        obj = getattr(imported, name)
        if not inspect.ismodule(obj) and not name.startswith("__"):
            path = f"{module}.{name}"
            if module != "condal" and getattr(condal, name, None) is obj:
                path = f"condal.{name}"
            if module != "condal" or _home(obj) == "condal":
                yield path, obj
    if module != "condal":
        for name in condal.__all__:
            obj = getattr(condal, name)
            if _home(obj) == module and name not in _listed(imported):
                yield f"condal.{name}", obj


@cache
def documented() -> dict[str, str]:
    """Map every spelling of a public name to the path under which it is documented."""
    paths: dict[str, str] = {}
    for module in modules():
        paths[module] = module
        for path, obj in names_of(module):
            name = path.rpartition(".")[2]
            paths.setdefault(path, path)
            paths.setdefault(f"{module}.{name}", path)
            if inspect.isclass(obj) or inspect.isfunction(obj):
                paths.setdefault(f"{obj.__module__}.{obj.__qualname__}", path)
    return paths


def public_path(name: str) -> str | None:
    """Return the path under which a name in a docstring is documented; None if it is not."""
    for path in (name, f"condal.{name}", *(f"{module}.{name}" for module in modules())):
        target = documented().get(path)
        if target is not None and target not in modules():
            return target
    return None


@cache
def modules() -> tuple[str, ...]:
    """Return the modules that have a page, `condal` first."""
    stems = (path.stem for path in sorted(PAGES.glob("*.md")))
    return ("condal", *(module_of(stem) for stem in stems if stem not in ("index", "condal")))


def module_of(stem: str) -> str:
    """Return the module of a page: one of condal, or of a package beside it."""
    return stem if stem.startswith("condal_") else f"condal.{stem}"


def _listed(module: ModuleType) -> list[str]:
    """Return `__all__`, or else the public classes and functions defined in the module."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, obj in vars(module).items()
        if not name.startswith("_") and getattr(obj, "__module__", None) == module.__name__
    ]


def _home(obj: Any) -> str:
    """Return the module whose page documents an object of `condal`.

    That is a module that lists the object, as `condal.formats` lists the readers, or else the
    innermost module with a page that holds its definition.
    """
    inside = f"{getattr(obj, '__module__', '')}."
    pages = [m for m in modules() if m != "condal"]
    listing = [m for m in pages if id(obj) in _listed_objects(m)]
    holding = [m for m in pages if inside.startswith(f"{m}.")]
    return max(listing or holding, key=len, default="condal")


@cache
def _listed_objects(module: str) -> frozenset[int]:
    imported = import_module(module)
    return frozenset(id(getattr(imported, name)) for name in _listed(imported))
