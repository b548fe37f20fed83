"""Lazy packages: American spellings work, no public name is hidden by a submodule, and imports run
without the garbage collector."""

import gc
from contextlib import suppress
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from pkgutil import iter_modules
from traceback import format_exception_only

import pytest

import condal
from condal import methods, problems
from condal.runtime.lazy import uncollected

ROOT = Path(condal.__file__).parent
LAZY = sorted(
    ".".join(["condal", *stub.parent.relative_to(ROOT).parts]) for stub in ROOT.rglob("*.pyi")
)


@pytest.mark.parametrize(
    ("american", "british"),
    [
        ("GeneralizedEigenvector", "GeneralisedEigenvector"),
        ("generalized_eigenvector", "generalised_eigenvector"),
        ("angular_synchronization", "angular_synchronisation"),
    ],
)
def test_american_spellings_work(american, british):
    assert getattr(problems, american) is getattr(problems, british)
    assert american not in problems.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = problems.nothing


@pytest.mark.parametrize(
    ("module", "wrong", "right"),
    [
        (condal, "slove", "solve"),
        (condal, "maxcut", "problems.max_cut"),
        (condal, "LowRankCGAL", "methods.LowRankCGAL"),
        (problems, "maxcut", "max_cut"),
        (problems, "kmeans", "k_means"),
        (methods, "Cgal", "CGAL"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_right_one(module, wrong, right):
    wanted = rf"{module.__name__}' has no attribute '{wrong}' \(did you mean {right}\?\)$"
    with pytest.raises(AttributeError, match=wanted) as raised:
        getattr(module, wrong)
    assert not hasattr(module, wrong)
    printed = "".join(format_exception_only(raised.value)).lower()
    assert printed.count("did you mean") == 1  # Python adds a suggestion of its own otherwise


def test_a_name_stays_misspelt_after_the_right_one_was_used():
    """A submodule of that name would answer for it then."""
    assert callable(problems.max_cut)
    assert not hasattr(problems, "maxcut")


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_that_of_a_submodule(package):
    """A submodule that is imported later would replace the function in the package."""
    module = import_module(package)
    submodules = {found.name for found in iter_modules(module.__path__)}
    shared = submodules & set(module.__all__)
    assert [name for name in shared if not ismodule(getattr(module, name))] == []


def test_the_garbage_collector_is_suspended_and_then_as_before():
    assert gc.isenabled()
    with suppress(ImportError), uncollected():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
