"""The one place where each public class is listed for the tests, and what to say of a new one."""

from collections.abc import Iterable
from typing import Any

import builders
import condal_lab
from condal import domains, io, maps, methods, nonsmooth, problems, sets, smooth, storage
from condal.linalg import eigen
from laws.domains import DOMAINS
from laws.functions import FUNCTIONS
from laws.maps import MAPS
from laws.sets import SETS
from laws.smooth import SMOOTH
from laws.spectra import ENGINES, STORAGES
from method_cases import CASES
from readers import FORMATS
from spaces import public_classes

# The oracle of SketchyCGAL keeps no tolerance, so its estimates obey no law: it has tests of its
# own in tests/methods/test_methods.py. DualRecovery needs a dual.
METHODS = [
    *(case.method for case in CASES.values()),
    condal_lab.methods.SketchyCGAL(),
    methods.DualRecovery(),
]
# Of each package: a method that its classes have, instances of them, and where these are listed.
INSTANCES: dict[Any, tuple[str, list[Any], str]] = {
    domains: ("lmo", [case.X for case in DOMAINS], "DOMAINS in tests/laws/domains.py"),
    sets: ("prox", [case.h for case in SETS], "SETS in tests/laws/sets.py"),
    nonsmooth: ("prox", [case.h for case in FUNCTIONS], "FUNCTIONS in tests/laws/functions.py"),
    smooth: ("gradient", [case.f for case in SMOOTH], "SMOOTH in tests/laws/smooth.py"),
    maps: ("row_norms", [case.A for case in MAPS], "MAPS in tests/laws/maps.py"),
    **{
        module: (
            "iterates",
            [each for each in METHODS if type(each).__module__.startswith(module.__name__ + ".")],
            "CASES in tests/method_cases.py",
        )
        for module in (methods, condal_lab.methods)
    },
    eigen: ("smallest", ENGINES, "ENGINES in tests/laws/spectra.py"),
    storage: (
        "move",
        [
            *(make(3) for make in STORAGES.values()),
            storage.Blocks([storage.Dense()]),  # made of others, and tested with them
        ],
        "STORAGES in tests/laws/spectra.py",
    ),
}
# Functions that make models and read files, and those among them that choose another.
FUNCTIONS_LISTED: dict[Any, tuple[set[str], set[str], str]] = {
    problems: (
        {name for name in problems.__all__ if name[0].islower()} - {"known_entries"},
        {name.split(" ")[0] for name in builders.MODELS},
        "MODELS in tests/builders.py",
    ),
    io.formats: (
        {name for name in io.formats.__all__ if name.startswith("read_")}
        - {"read_graph", "read_labelled_graph"},
        {getattr(form.read, "__name__", "") for form in FORMATS},
        "FORMATS in tests/readers/__init__.py",
    ),
}


def missing_instances(module: Any) -> list[str]:
    """What to add to the tests for each public class of the module that has no instance."""
    method, instances, place = INSTANCES[module]
    new = public_classes(module, method) - {type(instance) for instance in instances}
    return _texts((cls.__name__ for cls in new), module, place)


def missing_functions(module: Any) -> list[str]:
    public, listed, place = FUNCTIONS_LISTED[module]
    return _texts(public - listed, module, place)


def _texts(names: Iterable[str], module: Any, place: str) -> list[str]:
    return [f"add a case of {module.__name__}.{name} to {place}" for name in sorted(names)]
