"""The directive `names` documents every public name of a module from its docstring.

    ```{names} condal.domains
    Spectrahedron
    ```

The names in the block come first; the others follow in the order of the module. Members that a
class implements for an interface are documented only with the interface.
"""

from __future__ import annotations

import enum
import inspect
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from plain_docstrings import converted
from public_names import names_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from condal import types
from condal.linalg import rounding

SETS = (types.Proximable,)
INTERFACES: dict[str, tuple[type, ...]] = {
    "condal.domains": (types.Domain, types.Spectral, types.Projectable, types.Lifted),
    "condal.maps": (types.LinearMap,),
    "condal.smooth": (types.Smooth, rounding.Rounded),
    "condal.sets": SETS,
    "condal.nonsmooth": SETS,
    "condal.storage": (types.Storage, types.AtomStorage),
    "condal.methods": (types.Method,),
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("names", Names)
    return {"parallel_read_safe": True}


class Names(SphinxDirective):
    """The docstring of a module, a table of its public names, and the reference of each name."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the page."""
        module, first = self.arguments[0], list(self.content)
        names = dict(names_of(module))
        known = {path.rpartition(".")[2]: path for path in names}
        missing = [name for name in first if name not in known]
        if missing:
            raise self.error(
                f"{', '.join(missing)} do not belong on the page of {module}: remove them; a name "
                "of condal is shown on the page of the package that defines it"
            )
        order = [known[name] for name in first]
        order += [path for path in names if path not in order]
        text = [
            "```{eval-rst}",
            *_introduction(module),
            ".. autosummary::",
            "   :nosignatures:",
            "",
        ]
        text += [f"   ~{path}" for path in order] + [""]
        text += [line for path in order for line in _documented(module, path, names[path])]
        node = nodes.container()
        self.state.nested_parse(StringList([*text, "```"], source=module), 0, node)
        return node.children


def _introduction(module: str) -> list[str]:
    """Return the docstring of a module, and links to the interfaces of its names."""
    lines = converted((inspect.getdoc(import_module(module)) or "").splitlines())
    faces = [f":py:class:`~condal.types.{face.__name__}`" for face in INTERFACES.get(module, ())]
    faces = [face for face in faces if "Rounded" not in face]
    if faces:
        lines += [f"Their common members are documented in {', '.join(faces)}.", ""]
    return lines


def _documented(module: str, path: str, obj: Any) -> list[str]:
    kind, options = "autodata", []
    if inspect.isclass(obj):
        kind = "autoexception" if issubclass(obj, BaseException) else "autoclass"
        options = ["   :members:"]
        if module == "condal.problems":
            options.append("   :inherited-members:")
        known = sorted({name for face in INTERFACES.get(module, ()) for name in _members(face)})
        if known:
            options.append(f"   :exclude-members: {', '.join(known)}")
        if issubclass(obj, enum.Enum):
            options.append("   :undoc-members:")
    elif callable(obj):
        kind = "autofunction"
    return [f".. {kind}:: {path}", *options, ""]


def _members(interface: type) -> list[str]:
    return [name for cls in interface.__mro__ for name in vars(cls) if not name.startswith("_")]
