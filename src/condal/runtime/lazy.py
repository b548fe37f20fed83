"""Lazy public names (PEP 562): a package imports a module when a name of it is first used.

The stub `__init__.pyi` beside a package's `__init__.py` lists the public names as explicit imports,
and deprecated names as assignments `old = new`. Type checkers read the stub itself; at run time
`attach_stub` reads it to find where a name lives.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of the package with this `__init__.py`.

    A deprecated name warns and returns the object of its new name; `dir` does not list it.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes, renamed = _homes(stub), _renamed(stub)

    def __getattr__(name: str) -> Any:
        if name in renamed:
            new = renamed[name]
            message = f"{package}.{name} is deprecated: use {package}.{new}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return getattr(sys.modules[package], new)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = (
            import_module(f"{package}.{name}")
            if home == package
            else getattr(import_module(home), name)
        )
        # Bind the name, also where a submodule of the same name was imported before.
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted(homes)

    return __getattr__, __dir__, sorted(homes)


def _renamed(stub: ast.Module) -> dict[str, str]:
    """Return the new name of each deprecated name of a stub."""
    return {
        target.id: node.value.id
        for node in stub.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _homes(stub: ast.Module) -> dict[str, str]:
    """Return the module that each name of a stub is imported from."""
    return {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
