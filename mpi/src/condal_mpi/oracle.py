"""The smallest eigenpair of a gradient that ranks hold together, by SLEPc's Krylov-Schur.

SLEPc stops by the residual r of a Ritz pair. What is wanted is the error of its value, which is at
most r^2 / (the distance to the rest of the spectrum). So the solver runs to an r that suffices if
that distance is ASSUMED_SEPARATION of the spread. If it is less, the solver continues from there.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lanczos import Eigenpair
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import Cancelled
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.team import Team, engine

BASIS_SIZE = 24  # vectors of a Krylov space before a restart
MAX_RESTARTS = 100
MAX_RUNS = 8
START_NOISE = 3.0  # norm of the noise that is added to a guess of norm 1
ASSUMED_SEPARATION = 0.02
EQUAL_EIGENVALUES = 1e-12  # relative difference that rounding leaves between equal eigenvalues


class Slepc:
    """SLEPc's Krylov-Schur on a PETSc shell of V, n x n. Its vectors are allocated once."""

    def __init__(
        self, n: int, *, team: Team, basis: int = BASIS_SIZE, kind: str = "krylovschur"
    ) -> None:
        self.n, self.team, self.basis, self.kind = n, team, min(basis, n), kind
        _require_counted(n, self.basis)
        self._solver: Any = None
        self._shell = _Shell(team)

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """Return the smallest eigenpair, with an estimated error of the value of at most tol."""
        tol = self.team.agreed(tol)  # other processors may round its computation differently
        self._shell.V = V
        start = self._start(guess)
        start = start / float(np.linalg.norm(start))
        size = float(np.linalg.norm(V @ start))
        if not np.isfinite(size):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        if size == 0.0:  # V = 0, almost surely
            return Eigenpair(0.0, start, 0.0, 0.0)
        rounding = 4e-16 * self.basis * size
        wanted = max(tol, rounding)
        residual = max(sqrt(ASSUMED_SEPARATION * size * wanted), rounding)
        for _ in range(MAX_RUNS):
            pair = self._solved(start, residual)
            ritz = self._shell.ritz
            separation = ritz[1] - ritz[0] if len(ritz) > 1 else size
            error = min(pair.residual, pair.residual**2 / max(separation, rounding))
            if error <= wanted or residual <= rounding:
                break
            residual = max(min(sqrt(wanted * max(separation, wanted)), residual / 4), rounding)
            start = pair.vector
        return Eigenpair(pair.value, pair.vector, pair.residual, error)

    def _start(self, guess: Any) -> Any:
        """Return the guess plus noise, always the same, or noise alone.

        Without noise a guess that is an eigenvector would be found again.
        """
        size = 0.0 if guess is None else float(np.linalg.norm(guess))
        if not np.isfinite(size) or size == 0.0:
            return self._noise
        return guess / size + START_NOISE / sqrt(self.n) * self._noise

    @cached_property
    def _noise(self) -> ShardedArray:
        return normals(self.team, self.n, seed=[self.n])

    def _solved(self, start: Any, residual: float) -> Eigenpair:
        """Return a Ritz pair of at most that residual, or the best after MAX_RESTARTS restarts."""
        eps, vector = self._prepared()
        vector.getArray()[:] = start.local
        eps.setInitialSpace([vector])
        self._run(eps, residual)
        while eps.getConverged() == 0:  # SLEPc has only vectors that have converged
            residual *= 10
            self._run(eps, residual)
        value, error = float(eps.getEigenvalue(0).real), float(eps.getErrorEstimate(0))
        return Eigenpair(value, self._nearest(eps, vector, start), error, error)

    def _nearest(self, eps: Any, vector: Any, start: Any) -> Any:
        """Return the eigenvector that is nearest to the start.

        Of several eigenvectors with equal values, SLEPc returns directions that depend on rounding.
        The combination nearest to the start is the same on any number of ranks.
        """
        values = np.array([eps.getEigenvalue(i).real for i in range(eps.getConverged())])
        equal = np.flatnonzero(values - values[0] <= EQUAL_EIGENVALUES * np.abs(values).max())
        projection: Any = 0.0
        for i in map(int, equal):
            eps.getEigenpair(i, vector)
            eigenvector: Any = ShardedArray(vector.getArray().copy(), self.team)
            if equal.size == 1:
                return eigenvector
            projection = projection + float(eigenvector @ start) * eigenvector
        size = float(np.linalg.norm(projection))
        return projection / size if size > 0 else eigenvector

    def _run(self, eps: Any, residual: float) -> None:
        """Run to that residual, or to the end if a product was cancelled."""
        self._shell.halt = None
        eps.setTolerances(residual, MAX_RESTARTS)
        try:
            eps.solve()
        except BaseException:  # from a product: SLEPc was interrupted and cannot be destroyed
            self._solver = None
            eps.incRef()
            raise
        if self._shell.halt is not None:
            raise self._shell.halt

    def _prepared(self) -> Any:
        """Return SLEPc's solver and a PETSc vector."""
        if self._solver is None:
            SLEPc, PETSc = engine().SLEPc, engine().PETSc
            begin, end = self.team.range(self.n)
            sizes = ((end - begin, self.n),) * 2
            mat = PETSc.Mat().createPython(sizes, context=self._shell, comm=self.team.comm)
            eps = SLEPc.EPS().create(comm=self.team.comm)
            eps.setOperators(mat)
            eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
            eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
            eps.setType(self.kind)
            eps.setDimensions(1, self.basis)
            # For small matrices, which all ranks have, the factors of the first rank count.
            eps.getDS().setParallel(SLEPc.DS.ParallelType.SYNCHRONIZED)
            eps.setConvergenceTest(SLEPc.EPS.Conv.ABS)
            eps.setMonitor(self._shell.note)
            self._solver = eps, mat.createVecRight()
        return self._solver

    def release(self) -> None:
        """Free its vectors on all ranks at once; they are allocated again when needed."""
        if self._solver is not None:
            for item in self._solver:
                item.destroy()
            self._solver, self._shell.V, self._shell.halt = None, None, None


def _require_counted(n: int, basis: int) -> None:
    """Raise ProblemError unless PETSc can index the entries of a basis.

    SLEPc stores the basis and one more vector as one PETSc vector.
    """
    most = int(np.iinfo(engine().PETSc.IntType).max)
    if n * (basis + 1) > most:
        raise ProblemError(
            f"{basis + 1} vectors of {n:,} rows are more than PETSc counts with "
            f"{most.bit_length() + 1}-bit numbers: use one that was built with 64-bit indices"
        )


class _Shell:
    """V as a PETSc shell matrix, and the monitor of its solver.

    A cancellation, which all ranks see at once, is raised only after SLEPc has returned; to leave
    it in the middle of its work would break it. The identity takes the place of V, so SLEPc ends
    soon.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self.V: Symmetric | None = None
        self.halt: Cancelled | None = None
        self.ritz: list[float] = []  # the values at the last restart

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        assert self.V is not None
        v: Any = ShardedArray(x.getArray(readonly=1), self.team)
        product = v
        if self.halt is None:
            try:
                product = self.V @ v
            except Cancelled as halt:
                # The frames of the traceback hold `mat`. It would outlive the solver, and PETSc
                # would call Python to destroy it when Python has ended.
                self.halt = halt.with_traceback(None)
        y.getArray()[:] = product.local

    def note(self, eps: Any, restart: int, converged: int, values: Any, errors: Any) -> None:
        self.ritz = sorted(value.real for value in values)
