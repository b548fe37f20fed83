"""The smallest eigenpair of a gradient that ranks hold together: SLEPc's Krylov-Schur.

SLEPc stops by the residual r of a Ritz pair; what is asked for is the error of its value, which is
at most r^2 / (the distance to the rest of the spectrum). So it runs to an r that would do if that
distance were PART of the spread, and again, from where it came to, if it is less.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import Any
from weakref import finalize

import numpy as np

from condal.distributed.engine import engine
from condal.distributed.normals import normals
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
from condal.errors import ProblemError
from condal.linalg.eigen import START_NOISE, Eigenpair
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.runtime.cancellation import Cancelled

BASIS = 24  # vectors of a Krylov space, before it is restarted
RESTARTS = 100
TRIES = 8
PART = 0.02
ALIKE = 1e-12  # of the largest: what rounding leaves between equal eigenvalues


class Slepc:
    """SLEPc's Krylov-Schur on a PETSc shell of V, n x n. Its vectors are allocated once."""

    def __init__(
        self, n: int, *, team: Team, basis: int = BASIS, kind: str = "krylovschur"
    ) -> None:
        self.n, self.team, self.basis, self.kind = n, team, min(basis, n), kind
        _require_counted(n, self.basis)
        self._solver: Any = None
        self._shell = _Shell(team)
        self._ritz: list[float] = []  # the values at the last restart

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """The smallest eigenpair, its value to within tol, as far as it can tell."""
        tol = self.team.agreed(tol)  # made by functions that other processors round otherwise
        self._shell.V = V
        start = self._start(guess)
        start = start / float(np.linalg.norm(start))
        size = float(np.linalg.norm(V @ start))
        if not np.isfinite(size):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        if size == 0.0:  # V = 0, as far as anyone can tell
            return Eigenpair(0.0, start, 0.0, 0.0)
        rounding = 4e-16 * self.basis * size
        wanted = max(tol, rounding)
        residual = max(sqrt(PART * size * wanted), rounding)
        for _ in range(TRIES):
            pair = self._solved(start, residual)
            separation = self._ritz[1] - self._ritz[0] if len(self._ritz) > 1 else size
            error = min(pair.residual, pair.residual**2 / max(separation, rounding))
            if error <= wanted or residual <= rounding:
                break
            residual = max(min(sqrt(wanted * max(separation, wanted)), residual / 4), rounding)
            start = pair.vector
        return Eigenpair(pair.value, pair.vector, pair.residual, error)

    def _start(self, guess: Any) -> Any:
        """The guess with more noise than that, the same each time, or noise alone: a pure guess
        would find itself again."""
        size = 0.0 if guess is None else float(np.linalg.norm(guess))
        if not np.isfinite(size) or size == 0.0:
            return self._noise
        return guess / size + START_NOISE / sqrt(self.n) * self._noise

    @cached_property
    def _noise(self) -> ShardedArray:
        return normals(self.team, self.n, seed=[self.n])

    def _solved(self, start: Any, residual: float) -> Eigenpair:
        """A Ritz pair of a residual that small, or the best that RESTARTS give."""
        eps, vector = self._prepared()
        vector.getArray()[:] = start.local
        eps.setInitialSpace([vector])
        self._run(eps, residual)
        while eps.getConverged() == 0:  # SLEPc has no vectors but of what has converged
            residual *= 10
            self._run(eps, residual)
        value, off = float(eps.getEigenvalue(0).real), float(eps.getErrorEstimate(0))
        return Eigenpair(value, self._nearest(eps, vector, start), off, off)

    def _nearest(self, eps: Any, vector: Any, start: Any) -> Any:
        """The eigenvector; of several of one value, which SLEPc finds in directions that rounding
        decides, the combination that is nearest to the start: the same on any number of ranks."""
        values = np.array([eps.getEigenvalue(i).real for i in range(eps.getConverged())])
        alike = np.flatnonzero(values - values[0] <= ALIKE * np.abs(values).max())
        found: Any = None
        for i in map(int, alike):
            eps.getEigenpair(i, vector)
            one: Any = ShardedArray(vector.getArray().copy(), self.team)
            if alike.size == 1:
                return one
            part = float(one @ start) * one
            found = part if found is None else found + part
        size = float(np.linalg.norm(found))
        return found / size if size > 0 else one

    def _run(self, eps: Any, residual: float) -> None:
        """Let it run to that residual; or to its end, where a product was told to halt."""
        self._shell.halt = None
        eps.setTolerances(residual, RESTARTS)
        try:
            eps.solve()
        except BaseException:  # in a product: it is in the middle of its work, and can never end
            self._solver = None
            self._ending.detach()
            eps.incRef()
            raise
        if self._shell.halt is not None:
            raise self._shell.halt

    def _prepared(self) -> Any:
        """SLEPc's solver, and a vector of PETSc's."""
        if self._solver is None:
            SLEPc, PETSc = engine().SLEPc, engine().PETSc
            begin, end = self.team.range(self.n)
            here = (end - begin, self.n)
            mat = PETSc.Mat().createPython((here, here), context=self._shell, comm=self.team.comm)
            eps = SLEPc.EPS().create(comm=self.team.comm)
            eps.setOperators(mat)
            eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
            eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
            eps.setType(self.kind)
            eps.setDimensions(1, self.basis)
            # Of small matrices, which all ranks have, the first one's factors count.
            eps.getDS().setParallel(SLEPc.DS.ParallelType.SYNCHRONIZED)
            eps.setConvergenceTest(SLEPc.EPS.Conv.ABS)
            eps.setMonitor(self._note)
            self._solver = eps, mat.createVecRight()
            # Before Python ends: PETSc would call the shell of a matrix that it finds later.
            self._ending = finalize(self, _destroy, *self._solver, mat)
        return self._solver

    def release(self) -> None:
        """Let its vectors go, on all ranks at once; they are made again where they are needed.

        Nobody else does while the process lives: what ends them holds them, and their monitor this.
        """
        if self._solver is not None:
            self._solver, self._shell.V = None, None
            self._ending()

    def _note(self, eps: Any, restart: int, converged: int, values: Any, errors: Any) -> None:
        self._ritz = sorted(value.real for value in values)


def _require_counted(n: int, basis: int) -> None:
    """Raise ProblemError unless PETSc can number the entries of a basis: SLEPc keeps it, and one
    vector more, as one vector of PETSc's."""
    most = int(np.iinfo(engine().PETSc.IntType).max)
    if n * (basis + 1) > most:
        raise ProblemError(
            f"{basis + 1} vectors of {n:,} rows are more than PETSc counts with "
            f"{most.bit_length() + 1}-bit numbers: use one that was built with 64-bit indices"
        )


def _destroy(*objects: Any) -> None:
    for one in objects:
        one.destroy()


class _Shell:
    """V, as PETSc calls it.

    A Halt, which all ranks meet at once, is kept until SLEPc has ended: it would be left in the
    middle of its work. With the identity, which it is given from then on, it ends at once.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self.V: Symmetric | None = None
        self.halt: Cancelled | None = None

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        assert self.V is not None
        v: Any = ShardedArray(x.getArray(readonly=1), self.team)
        product = v
        if self.halt is None:
            try:
                product = self.V @ v
            except Cancelled as halt:
                self.halt = halt
        y.getArray()[:] = product.local
