"""Lazy public names (PEP 562): a package imports a module when a name of it is first used.

The stub `__init__.pyi` beside a package's `__init__.py` lists the public names as explicit imports.
Type checkers read the stub itself; at run time `attach_stub` reads it to find where a name lives.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of the package with this `__init__.py`."""
    homes = _homes(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))

    def __getattr__(name: str) -> Any:
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


def _homes(stub: str) -> dict[str, str]:
    """Return the module that each name of a stub is imported from."""
    return {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
