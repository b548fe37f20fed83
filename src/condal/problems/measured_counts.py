"""Measurements of quantum states and their counts, in the forms in which they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.maps.inner import Inner
from condal.maps.pauli import PauliProbabilities
from condal.runtime.arguments import finite_array
from condal.types import LinearMap

COMPLETE = 1e-6  # the largest entry of the sum of all effects minus I
EXACT = 1e-15  # of a projection: no better in double precision
PSD = 1e-9  # of the largest eigenvalue of an effect: rounding below 0
MAX_EFFECT_NUMBERS = 2**27  # in all effects of a POVM


def measured(counts: Any, measurements: Any) -> tuple[LinearMap, Array, int]:
    """Return the map of the probabilities, the counts, a row per setting, and the side of x."""
    if measurements is None:
        counts, measurements = _from_mapping(counts)
    if _are_bases(measurements):
        A, table = _in_bases(measurements, counts)
        answer: tuple[LinearMap, Array, int] = A, table, A.side
    else:
        answer = _by_effects(measurements, counts)
    shots = answer[1].sum(axis=1)
    if (shots == 0).any():
        raise ProblemError(f"setting {int(np.argmax(shots == 0))} has no counts: leave it out")
    return answer


def _are_bases(measurements: Any) -> bool:
    if isinstance(measurements, str):
        return True
    return isinstance(measurements, Sequence) and all(isinstance(m, str) for m in measurements)


def _from_mapping(counts: Any) -> tuple[Array, list[str]]:
    """Return the table of counts and the bases of a mapping of mappings."""
    if not isinstance(counts, Mapping):
        raise ProblemError(
            "without measurements, counts must be a mapping from each basis to the counts of its "
            f"outcomes, such as {{'XZ': {{'00': 510}}}}; got {type(counts).__name__}"
        )
    bases = list(counts)
    PauliProbabilities(bases)  # refuses words that are no bases
    table = np.zeros((len(bases), 2 ** len(bases[0])))
    for row, basis in zip(table, bases, strict=True):
        if not isinstance(counts[basis], Mapping):
            raise ProblemError(f"the counts of {basis} must be a mapping; got {counts[basis]!r}")
        for outcome, count in counts[basis].items():
            if not isinstance(outcome, str) or len(outcome) != len(basis) or set(outcome) - {*"01"}:
                raise ProblemError(
                    f"an outcome of {basis} has {len(basis)} bits, such as {'0' * len(basis)!r}; "
                    f"got {outcome!r}"
                )
            if not isinstance(count, int | float | np.number):
                raise ProblemError(f"the count of {outcome} in {basis} is no number: {count!r}")
            row[int(outcome, 2)] = count
    return _checked(table), bases


def _in_bases(bases: Sequence[str], counts: Any) -> tuple[PauliProbabilities, Array]:
    """Return the map and the table of counts; equal bases become one."""
    words = [bases] if isinstance(bases, str) else list(bases)
    distinct = list(dict.fromkeys(words))
    A = PauliProbabilities(distinct)
    given = np.atleast_2d(_checked(counts))
    if given.shape != (len(words), A.side):
        raise ProblemError(
            f"counts must have a row for each of the {len(words)} bases and a column for each of "
            f"the {A.side} outcomes; got shape {np.shape(counts)}"
        )
    table = np.zeros((len(distinct), A.side))
    np.add.at(table, [distinct.index(word) for word in words], given)
    return A, table


def _by_effects(effects: Any, counts: Any) -> tuple[Inner, Array, int]:
    """Return the map of the probabilities, the table of counts and the side of x."""
    E = np.asarray(effects)
    if (
        E.ndim not in (3, 4)
        or E.shape[-1] != E.shape[-2]
        or 0 in E.shape
        or E.dtype.kind not in "biufc"
    ):
        raise ProblemError(
            "measurements must be Pauli bases, such as ['XX', 'ZZ'], or effects, an array of shape "
            f"(p, d, d) or (s, p, d, d); got an array of shape {E.shape}"
        )
    if E.size > MAX_EFFECT_NUMBERS:
        raise ProblemError(
            f"the effects have {E.size:,} numbers; at most {MAX_EFFECT_NUMBERS:,} fit"
        )
    E = E.reshape(-1, *E.shape[-3:]).astype(np.complex128)
    settings, outcomes, d, _ = E.shape
    table = _checked(counts).reshape(-1, outcomes) if np.size(counts) % outcomes == 0 else None
    if table is None or len(table) != settings:
        raise ProblemError(
            f"counts must have a number for each of {settings} x {outcomes} effects; got shape "
            f"{np.shape(counts)}"
        )
    finite_array(E.view(np.float64), "measurements")
    off = np.abs(E.sum(axis=1) - np.eye(d)).max(axis=(1, 2))
    if (off > COMPLETE).any():
        worst = int(np.argmax(off))
        raise ProblemError(
            f"the effects of a POVM add up to the identity; those of setting {worst} are off by "
            f"{off[worst]:.2g}"
        )
    flat = E.reshape(-1, d, d)
    values = np.linalg.eigvalsh(0.5 * (flat + flat.conj().transpose(0, 2, 1)))
    if (values[:, 0] < -PSD * np.maximum(values[:, -1], 1.0)).any() or not np.allclose(
        flat, flat.conj().transpose(0, 2, 1), atol=PSD
    ):
        raise ProblemError("an effect must be Hermitian and positive semidefinite")
    return Inner(list(flat)), table, d


def nearest_image(A: LinearMap, y: Array) -> Array:
    """Return the image nearest to y: of a Hermitian matrix, not necessarily psd or of trace 1."""
    from scipy.sparse.linalg import lsqr

    rows = A.as_matrix()
    return y if rows is None else np.asarray(rows @ lsqr(rows, y, atol=EXACT, btol=EXACT)[0])


def coherences(d: int) -> Inner:
    """Return the map of twice the real and the imaginary part of each entry above the diagonal."""
    import scipy.sparse as sp

    pairs = list(zip(*np.triu_indices(d, 1), strict=True))
    halves = [(1.0 + 0j, 1.0 + 0j), (1j, -1j)]
    return Inner(
        sp.coo_array((values, ((i, j), (j, i))), (d, d)) for i, j in pairs for values in halves
    )


def target_state(target: Any, d: int) -> Any:
    """Return a unit vector, or a density matrix, of dimension d."""
    t = np.asarray(target)
    if t.shape not in ((d,), (d, d)) or t.dtype.kind not in "biufc" or not np.isfinite(t).all():
        raise ProblemError(
            f"a target state is a vector of {d} finite numbers or a {d} x {d} density matrix; got "
            f"shape {t.shape}"
        )
    size = float(np.linalg.norm(t)) if t.ndim == 1 else float(np.trace(t).real)
    if not size > 0:
        raise ProblemError("a target state must not be 0")
    return t.astype(np.complex128) / size


def _checked(counts: Any) -> Array:
    table = finite_array(counts, "counts")
    if (table < 0).any():
        worst = np.unravel_index(int(np.argmin(table)), table.shape)
        place = ", ".join(str(int(i)) for i in worst)
        raise ProblemError(f"counts must not be negative; got {table.min():g} at [{place}]")
    return table
