"""Proved bounds: below the smallest eigenvalue always, near it where that is promised."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg import factorisations as costs
from condal.linalg import partial_cholesky as partial
from condal.linalg.eigenvalue_bounds import (
    dense_cholesky,
    gershgorin,
    smallest_eigenvalue_bound,
    sparse_factorisation,
)
from condal.linalg.lanczos_bounds import from_random_starts, probabilistic
from condal.linalg.lifting import symmetric
from condal.linalg.partial_cholesky import partial_cholesky
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import Deadline, products_done
from laws.spectra import ENGINES, SPECTRA, is_below_spectrum, random_graph, spectrum, torus
from spaces import Matrices, random_symmetric

KINDS = ["random", *SPECTRA]
SCALES = [1.0, 1e-12, 1e12]


def in_rounds(V, tau):
    """Every row is eliminated in a round: the dense rest is empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial, "ROUND_FLOPS", 0.0)
        return partial_cholesky(V, tau)


FACTORISATIONS = [dense_cholesky, sparse_factorisation, partial_cholesky, in_rounds]
factorisations = pytest.mark.parametrize("prove", FACTORISATIONS)


def bound(V, slack=0.0, **options):
    return smallest_eigenvalue_bound(V, slack=slack, failure=1e-6, seed=0, **options)


def forms(full):
    """The same matrix as the parts of a gradient may hold it."""
    n = len(full)
    return [
        Symmetric(n, dense=full),
        Symmetric(n, sparse=(sp.csr_array(full),)),
        Symmetric(
            n, sparse=(sp.csr_array(np.triu(full, 1) + np.triu(full, 1).T),), diagonal=np.diag(full)
        ),
        Symmetric(n, operators=(aslinearoperator(full),)),
    ]


def reference_error(full):
    """What NumPy's own eigenvalues may be wrong by."""
    return 4e-16 * len(full) * float(np.linalg.norm(full, 2))


# Small matrices, decided in rational arithmetic: no tolerance at all.


def small_matrices(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    scale = 10.0 ** rng.integers(-12, 13)
    yield Matrices(n).gradient(rng).scaled(scale)
    yield from forms(scale * random_symmetric(n, rng))
    factor = rng.integers(-3, 4, size=(n, max(n - 1, 1))).astype(float)
    yield from forms(scale * (factor @ factor.T))  # singular, and exactly so at scale 1
    yield Symmetric(n, diagonal=scale * rng.standard_normal(n))
    yield Symmetric(n)
    # Parts that cancel.
    big = 1e8 * random_symmetric(n, rng) / 3
    rest = aslinearoperator(random_symmetric(n, rng) - 3 * big)
    yield Symmetric(n, sparse=(sp.csr_array(big), sp.csr_array(big)), dense=big, operators=(rest,))
    yield Symmetric(n, sparse=(sp.csr_array(big),), dense=-big, diagonal=rng.standard_normal(n))
    back = sp.csr_array(random_symmetric(n, rng) - 3 * big)
    yield Symmetric(n, sparse=(*(sp.csr_array(big) for _ in range(3)), back))


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_exactly(seed):
    for V in small_matrices(seed):
        for slack in (0.0, 1e-6):
            proof = bound(V, slack)
            assert proof.failure == 0.0
            assert is_below_spectrum(proof.value, V), (proof, V)
        discs = gershgorin(V)
        assert discs is None or is_below_spectrum(discs.value, V)


@factorisations
@pytest.mark.parametrize("seed", range(40))
def test_factorisations_at_any_shift_hold_exactly(prove, seed):
    """Shifts as near to the smallest eigenvalue as rounding lets them be, from both sides."""
    tried = 0
    for V in small_matrices(seed):
        if prove is not dense_cholesky and not V.factorable:
            continue
        values = np.linalg.eigvalsh(V.to_dense())
        size = np.abs(values).max() or 1.0
        for part in (0.0, 1e-16, 1e-15, 1e-14, 1e-8, -1e-16, -1e-15):
            proof = prove(V, float(values[0] - part * size))
            if proof is not None:
                tried += 1
                assert is_below_spectrum(proof.value, V)
    assert tried >= 8


@factorisations
def test_squares_that_underflow_do_not_make_a_matrix_definite(prove):
    """The Schur complement of the last row is 5e-324 - 3 * 2.25e-324 and computed as 5e-324."""
    full = np.diag([1e-310, 1e-310, 1e-310, 5e-324])
    full[3, :3] = full[:3, 3] = 1.5e-317
    proof = prove(Symmetric(4, sparse=(sp.csr_array(full),)), 0.0)
    assert proof is None or proof.value < 0


# Every kind of spectrum, at every scale and in every form, against NumPy.


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_on_every_kind_of_spectrum(kind, scale):
    for n, diagonal in product([1, 2, 3, 20, 60], [False, True]):
        case = spectrum(kind, n, diagonal)
        full, size = scale * case.full, scale * case.size
        smallest, error = scale * case.values[0], reference_error(full)
        # A Lanczos estimate is anywhere in a cluster; the shifts then go down in steps.
        width = 1e-6 if kind == "clustered" else 1e-12
        for V, slack in product(forms(full), [0.0, 1e-9, 1e-3]):
            proof = bound(V, slack * size)
            assert proof.value <= smallest + error, case.name
            assert proof.value >= smallest - 1.2 * slack * size - width * size, case.name
            assert proof.failure == 0.0


def laplacians():
    for side in (3, 5, 12):
        yield f"torus {side}", torus(side)
    for n, density, seed in [(30, 0.1, 0), (60, 0.05, 1), (100, 0.3, 2)]:
        yield f"graph {n}", random_graph(n, density, seed)
        yield f"signed graph {n}", random_graph(n, density, seed, signed=True)
    yield "no edges", sp.csr_array((20, 20))
    yield "path", random_graph(2, 1.0, 0)


LAPLACIANS = dict(laplacians())


@pytest.mark.parametrize("name", LAPLACIANS)
@pytest.mark.parametrize("shifted", [False, True])
def test_bounds_on_graphs(name, shifted):
    """Slacks of max-cut: L - Diag y, singular at y = 0."""
    L = LAPLACIANS[name]
    n = L.shape[0]
    rng = np.random.default_rng(0)
    V = symmetric(L) + Symmetric(n, diagonal=shifted * rng.standard_normal(n))
    full = V.to_dense()
    smallest, size = np.linalg.eigvalsh(full)[0], np.linalg.norm(full, 2)
    for prove in (bound, *(lambda V, s, p=p: p(V, smallest - s) for p in FACTORISATIONS)):
        for slack in (1e-3, 1e-9):
            proof = prove(V, slack * size)
            if size == 0.0 and proof is None:
                continue  # nothing to factorise at a shift of 0
            assert smallest - 1.2 * slack * size - 1e-12 * size <= proof.value
            assert proof.value <= smallest + reference_error(full)


# Factorisations.


@factorisations
@pytest.mark.parametrize("kind", ["random", *(k for k in SPECTRA if k != "zero")])
def test_a_shift_clearly_above_the_smallest_eigenvalue_is_not_proved(prove, kind):
    for n, part in product([1, 2, 20, 60], [1e-6, 1e-2, 10.0]):
        case = spectrum(kind, n)
        V = Symmetric(n, sparse=(sp.csr_array(case.full),))
        assert prove(V, float(case.values[0]) + part * case.size) is None, case.name


@factorisations
@pytest.mark.parametrize("kind", KINDS)
def test_a_shift_clearly_below_the_smallest_eigenvalue_is_proved(prove, kind):
    for n, part in product([1, 2, 20, 60], [1e-9, 1e-2, 10.0]):
        case = spectrum(kind, n)
        V = Symmetric(n, sparse=(sp.csr_array(case.full),))
        tau = float(case.values[0]) - part * case.size
        proof = prove(V, tau)
        assert proof is not None, case.name
        # What is lost to rounding grows with the shifted matrix.
        assert tau - 1e-14 * n**2 * (1 + part) * case.size <= proof.value <= tau, case.name
        assert "factorisation" in proof.how


@factorisations
@pytest.mark.parametrize("where", [(0, 0), (3, 1), (4, 4)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_is_proved_of_a_matrix_that_is_not_finite(prove, where, bad):
    full = np.eye(5)
    full[where] = full[where[::-1]] = bad
    V = Symmetric(5, sparse=(sp.csr_array(full),))
    proof = prove(V, -1.0)
    assert proof is None or proof.value == -np.inf


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_callers_asymmetry_does_not_fool_the_dense_factorisation(wrap):
    """LAPACK reads one triangle: what was rounded away in the other must not count."""
    full = random_symmetric(50, np.random.default_rng(0))
    values, vectors = np.linalg.eigh(full)
    sign = np.triu(np.sign(np.outer(vectors[:, 0], vectors[:, 0])), 1)
    skew = 0.4e-12 * np.abs(full).max() * (sign - sign.T)
    for skewed in (full + skew, full - skew):
        V = symmetric(wrap(skewed))
        for above in (5e-12, 1e-11, 2e-11):
            proof = dense_cholesky(V, float(values[0]) + above)
            assert proof is None or proof.value <= values[0] + reference_error(full)


# Lanczos from a random start.
LIKELY = ["random", "spread", "clustered", "nearly singular", "one negative"]


@pytest.mark.parametrize("kind", [*LIKELY, "identity", "zero", "multiple"])
def test_the_probabilistic_bound_is_not_wrong(kind):
    for diagonal in (False, True):
        case = spectrum(kind, 60, diagonal)
        for seed in range(60):
            proof = probabilistic(case.V, slack=0.1 * case.size, failure=1e-3, seed=seed)
            assert proof.value <= case.values[0] + reference_error(case.full)
            assert proof.failure == 1e-3
            assert "random start" in proof.how


def test_the_probabilistic_bound_is_within_its_slack():
    values = np.linspace(-1.0, 1.0, 2000)
    V = Symmetric(2000, diagonal=values)
    for slack in (0.1, 1e-2, 1e-3):
        proof = probabilistic(V, slack=slack, failure=1e-6, seed=3)
        assert -1.0 - slack <= proof.value <= -1.0


def test_seeds_are_independent_and_repeat():
    V = spectrum("random", 60).V
    values = [probabilistic(V, slack=1.0, failure=1e-3, seed=s).value for s in (0, 1, 2, 0)]
    assert values[0] == values[3]
    assert len(set(values)) == 3


# Which proof is tried.


def chain(n):
    """The symbol 2 - 2 cos t + cos 2t is 1/2 at least; Gershgorin's discs reach -1."""
    ones = np.ones(n)
    bands = [0.5 * ones[2:], -ones[1:], 2 * ones, -ones[1:], 0.5 * ones[2:]]
    return symmetric(sp.diags(bands, [-2, -1, 0, 1, 2]))


def test_the_proof_follows_what_is_affordable():
    long, short = chain(3000), chain(200)
    dense = Symmetric(200, dense=short.to_dense())
    hidden = Symmetric(200, operators=(aslinearoperator(short.to_dense()),))
    assert "sparse" in bound(long, 1e-3).how
    assert "dense" in bound(dense, 1e-3).how
    assert "dense" in bound(hidden, 1e-3).how
    for V in (long, short, dense, hidden):
        with costs.spending(costs.Budget(bytes=0)):
            proof = bound(V, 0.1)
        assert "random start" in proof.how
        assert proof.failure == 1e-6
        assert 0.4 - 1e-9 <= proof.value <= 0.51


def test_discs_are_the_last_resort():
    V = Symmetric(60, diagonal=np.ones(60))  # Lanczos ends at once and proves nothing
    with costs.spending(costs.Budget(flops=0)):
        proof = bound(V, 1e-9)
    assert -1.1 <= proof.value <= 1.0
    assert np.isfinite(proof.value)


def test_discs_need_entries():
    assert gershgorin(forms(np.eye(3))[3]) is None


@pytest.mark.parametrize("kind", KINDS)
def test_discs_are_below_every_eigenvalue(kind):
    for n, scale in product([1, 2, 20, 60], SCALES):
        case = spectrum(kind, n)
        for V in forms(scale * case.full)[:3]:
            proof = gershgorin(V)
            assert proof.value <= scale * case.values[0]
            assert proof.value >= -scale * case.size * n * (1 + 1e-13)


@pytest.mark.parametrize("engine", [None, *ENGINES], ids=repr)
def test_any_engine_may_make_the_estimate(engine):
    case = spectrum("spread", 60)
    proof = bound(case.V, 1e-8, engine=engine)
    assert case.values[0] - 2e-8 <= proof.value <= case.values[0]


def test_a_bad_estimate_does_not_make_a_bad_bound():
    """The shifts go deeper until one is proved, whatever the engine said."""

    class Optimist:
        def __init__(self, error):
            self.error = error

        def smallest(self, V, tol=0.0, guess=None):
            pair = ENGINES[0].smallest(V)
            return type(pair)(pair.value + self.error, pair.vector, 0.0, 0.0)

    case = spectrum("spread", 60)
    for error in (1e-9, 1e-3, 1.0, -1e-3, 1e6):
        proof = bound(case.V, 1e-6, engine=Optimist(error))
        assert proof.value <= case.values[0] + reference_error(case.full)
        assert proof.value >= -61.0  # Gershgorin's, at worst
        if abs(error) <= 1e-3:
            assert proof.value >= case.values[0] - 1e-2


def test_products_that_are_not_finite_are_an_error():
    with pytest.raises(FloatingPointError, match="NaN or infinity"):
        bound(Symmetric(3, diagonal=np.array([1.0, np.nan, 1.0])), 1e-6)


def test_the_gradient_is_left_alone():
    full = spectrum("random", 20).full.copy()
    for V in forms(full):
        before = V.to_dense()
        bound(V, 1e-6)
        for prove in FACTORISATIONS if V.factorable else FACTORISATIONS[:1]:
            prove(V, -100.0)
        probabilistic(V, slack=1.0, failure=0.1, seed=0)
        np.testing.assert_array_equal(V.to_dense(), before)


# A bound that is enough: proved at once, or refuted, and right in both cases.

PLANS = ["dense", "sparse", "probabilistic"]


def graph_by(plan, monkeypatch):
    """A sparse V for which discs prove little, and lambda_min."""
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan(plan, 0.0))
    graph = sp.csr_array(random_graph(900, 0.007, 0, signed=True), dtype=float)
    least = float(np.linalg.eigvalsh(graph.toarray())[0])
    V = Symmetric(900, sparse=(graph,))
    assert gershgorin(V).value < least - 1.0
    return V, least


WORDS = {"dense": "dense Cholesky", "sparse": "sparse LDL'", "probabilistic": "Lanczos"}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("below", [0.05, 0.5])
def test_a_bound_that_is_enough_is_not_improved(plan, below, monkeypatch):
    V, least = graph_by(plan, monkeypatch)
    before = products_done()
    proof = bound(V, slack=1e-6, enough=least - below)
    assert least - below - 1e-9 <= proof.value <= least
    assert proof.how.startswith(WORDS[plan])
    asked = products_done() - before
    bound(V, slack=1e-6)
    assert asked < products_done() - before - asked
    assert plan == "probabilistic" or asked == 0  # a factorisation needs no estimate


@pytest.mark.parametrize("plan", PLANS)
def test_more_than_can_be_proved_is_refuted_and_something_lower_is_proved(plan, monkeypatch):
    V, least = graph_by(plan, monkeypatch)
    proof = bound(V, slack=1e-6, enough=least + 0.01)
    assert gershgorin(V).value <= proof.value <= least


def test_discs_that_prove_enough_are_enough(monkeypatch):
    V = Symmetric(900, sparse=(sp.csr_array(torus(30)),), diagonal=np.full(900, -1.0))
    assert bound(V, slack=1e-9, enough=-1.1).how == "Gershgorin discs"


@pytest.mark.parametrize("part", [1e-3, 1e-5, 1e-7, 1e-8])
def test_a_start_that_nearly_misses_the_lowest_eigenvector_proves_no_more_than_it_knows(part):
    """One step, and nothing is left but rounding: as unlikely as that may be, the bound holds while
    the part of the start in that eigenvector is one that `failure` allows for."""
    n = 1000
    start = np.random.default_rng(0).standard_normal(n)
    start[0] = 0.0
    start[0] = part * np.linalg.norm(start)
    values = np.ones(n)
    for below in (1e-12, 2e-9, 1e-7, 1e-6):
        values[0] = 1 - below
        V = Symmetric(n, diagonal=values)
        proof = from_random_starts(V, lambda: start, slack=1e-3, failure=1e-6)
        assert proof.value <= values[0]
        assert proof.value >= values[0] - 1e-3


def test_a_space_that_is_invariant_is_told_with_its_probability():
    V = Symmetric(100, diagonal=np.where(np.arange(100) % 2, 1.0, 3.0))
    proof = probabilistic(V, slack=1e-9, failure=1e-6, seed=3)
    assert "2 random starts, 4 steps" in proof.how  # one loses 1e-6 to rounding
    assert 1 - 1e-8 <= proof.value <= 1.0


# Nothing that is proved is thrown away.


def hub_laplacian(n=3000):
    """A sparse graph with a vertex that is next to all: scaling by the diagonal proves far more
    than the smallest eigenvalue does."""
    rng = np.random.default_rng(0)
    rows = np.r_[rng.integers(0, n, 6 * n), np.zeros(n - 1, int)]
    cols = np.r_[rng.integers(0, n, 6 * n), np.arange(1, n)]
    rows, cols = rows[rows != cols], cols[rows != cols]
    W = sp.csr_array(sp.coo_array((np.ones(rows.size), (rows, cols)), (n, n)))
    W = W + W.T
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return Symmetric(n, sparse=(sp.csr_array(diagonal_matrix(1.5 * degrees) - W),))


def test_a_factorisation_does_not_replace_a_better_proof_by_lanczos(monkeypatch):
    """A bound of 6.45 that was proved gave way to 1.5, of the discs."""
    V, proved, factored = hub_laplacian(), [], []
    monkeypatch.setattr(proofs, "by_lanczos", kept(proofs.by_lanczos, proved))
    for name in ("_factored", "_partly_dense"):
        monkeypatch.setattr(proofs, name, kept(getattr(proofs, name), factored))
    proof = bound(V, slack=1.0, enough=6.5, shares=np.full(V.n, 1 / V.n))
    assert factored[0].value < proved[0].value < 6.5
    assert proof.value == proved[0].value
    assert proof.failure == proved[0].failure
    assert proof.refuting is factored[0].refuting is not None


def kept(prove, into):
    def proving(*args, **options):
        into.append(prove(*args, **options))
        return into[-1]

    return proving


@pytest.mark.parametrize("enough", [np.inf, 0.2])
@pytest.mark.parametrize("shares", [False, True])
def test_with_the_time_up_the_discs_still_prove_their_bound(enough, shares):
    W = abs(random_symmetric_sparse(3000))
    degrees = np.asarray(W.sum(axis=1)).ravel()
    V = Symmetric(3000, sparse=(sp.csr_array(diagonal_matrix(degrees + 0.1) - W),))
    options = {"shares": np.full(3000, 1 / 3000)} if shares else {}
    with Deadline(until=time.perf_counter() - 1).on():
        proof = bound(V, slack=0.1, enough=enough, **options)
    assert proof.value == gershgorin(V).value
    assert "no time for a better proof" in proof.how


def random_symmetric_sparse(n):
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, n, (2, 3 * n))
    W = sp.csr_array(sp.coo_array((rng.random(3 * n), (rows, cols)), (n, n)))
    return W + W.T
