"""Counts and sizes of classes, methods and models: others than such numbers are refused by name."""

import inspect
from typing import Any

import numpy as np
import pytest

import condal
import condal_lab
from builders import GRAPH, PARTS
from condal import methods, problems, storage
from condal.methods import rules
from laws.case import POINTS, TALL, WAVES, C, N, b

COUNTS = ("n", "m", "k", "side", "size", "rank", "steps", "R", "seed")
SIZES = ("radius", "height", "trace", "t", "weight", "delta", "background", "alpha", "rho")
SIZES += ("resolution", "eps", "eps0", "beta", "balance", "lam", "lam0", "fraction", "D_Y")
NO_COUNTS, NO_SIZES = (0, -1, 2.5, True, "3", np.nan), (0.0, -1.0, np.nan, "1")
FINITE = ("radius", "trace", "alpha")  # of sizes: one real number, and not infinite
GIVEN: list[tuple[Any, dict[str, Any]]] = [
    (condal.NuclearBall, {"m": 2, "n": 3}),
    (condal.L2Ball, {"n": 3}),
    (storage.Sketch, {"n": 5, "R": 2}),
    (rules.FractionOfGap, {"fraction": 0.5}),
    (problems.max_k_cut, {"graph": GRAPH, "k": 3}),
    (problems.communities, {"graph": GRAPH, "k": 2}),
    (problems.k_means, {"points": POINTS, "k": 2}),
    (problems.generalised_eigenvector, {"Phi": C, "Psi": np.eye(N), "alpha": 3.0}),
    (problems.sparse_pca, {"covariance": C, "rho": 0.5}),
    (problems.phase_retrieval, {"intensities": b, "a": WAVES, "trace": 1.0}),
    (problems.trace_regression, {"a": TALL, "Y": np.c_[b, -b], "radius": 2.0}),
    (
        problems.matrix_completion,
        {"rows": [0, 0, 1, 1], "cols": [0, 1, 1, 2], "values": b[:4], "loss": "huber", "delta": 1},
    ),
    *((getattr(each, name), {}) for each in (methods, condal_lab.methods) for name in each.__all__),
]
# The size of a Hinge counts beside a single label alone; those of no numbers are orthants.
EXCEPT = {("Hinge", "size"), ("Symmetric", "n"), ("Sketch", "seed"), ("NonNegative", 0)}
EXCEPT |= {("NonPositive", 0)}


def needed(made: Any) -> dict[str, Any] | None:
    """The arguments that an instance was made of, if they are told from it."""
    kinds = inspect.signature(type(made)).parameters.values()
    names = [kind.name for kind in kinds if kind.default is kind.empty]
    known = {name: getattr(made, name, None) for name in names}
    plain = all(kind.kind is kind.POSITIONAL_OR_KEYWORD for kind in kinds)
    return known if plain and all(value is not None for value in known.values()) else None


def settings() -> dict[str, tuple[Any, dict[str, Any], str]]:
    """Every count and size of a class or function, and what else it is made of."""
    parts = {type(case.made): case.made for case in PARTS}
    of_parts = [
        (kind, needed(made)) for kind, made in parts.items() if kind.__module__[:6] == "condal"
    ]
    listed = {}
    for make, given in [*GIVEN, *of_parts]:
        for name in inspect.signature(make).parameters if given is not None else ():
            if name in COUNTS + SIZES and (make.__name__, name) not in EXCEPT:
                listed[f"{make.__name__}-{name}"] = make, given, name
    return listed


SETTINGS = settings()


@pytest.mark.parametrize("key", SETTINGS)
def test_what_is_no_count_and_no_size_is_refused(key):
    make, given, name = SETTINGS[key]
    assert len(SETTINGS) > 90
    others = (np.inf, 1j) if name in FINITE else ()
    for wrong in NO_COUNTS if name in COUNTS else (*NO_SIZES, *others):
        if (name, wrong) == ("seed", 0) or (make.__name__, wrong) in EXCEPT:
            continue
        with pytest.raises(condal.ProblemError, match=rf"\b{name} (must be|has the value)"):
            make(**{**given, name: wrong})
