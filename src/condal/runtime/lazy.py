"""Imports: public names on first use (PEP 562), and no search for garbage while modules load.

The stub `__init__.pyi` beside a package's `__init__.py` lists the public names as explicit imports.
Type checkers read the stub itself; at run time `attach_stub` reads it to find where a name lives,
when the package is first asked for one. American spellings of the names work, too.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from condal.runtime.text import did_you_mean


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of the package with this `__init__.py`.

    `__getattr__` also gives `__all__`.
    """
    read_stub = cache(partial(_read_stub, Path(file).with_suffix(".pyi")))

    def __getattr__(name: str) -> Any:
        homes = read_stub()
        if name == "__all__":
            return sorted(homes)
        british = name.replace("ization", "isation").replace("ized", "ised")
        if british != name and british in homes:
            return getattr(sys.modules[package], british)
        if name not in homes:
            hint = (
                "" if name.startswith("_") else did_you_mean(name, _with_subpackages(homes, file))
            )
            # With `obj` set and `name` not, a traceback adds no suggestion of its own.
            message = f"module {package!r} has no attribute {name!r}{hint}"
            raise AttributeError(message, obj=sys.modules[package])
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
        return sorted(read_stub())

    return __getattr__, __dir__


def _read_stub(path: Path) -> dict[str, str]:
    """Return the module that each name of a stub is imported from."""
    import ast

    return {
        alias.name: node.module
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }


def _with_subpackages(homes: dict[str, str], file: str) -> Iterator[str]:
    """Yield the names of a package, and after them those of its public subpackages, dotted."""
    yield from homes
    for stub in sorted(Path(file).parent.glob("*/__init__.pyi")):
        if stub.parent.name in homes:
            yield from (f"{stub.parent.name}.{name}" for name in _read_stub(stub))


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend the garbage collector during imports: what they make lives until the process ends.

    Later collections pass over it, too.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
