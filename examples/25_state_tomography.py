"""State tomography: the density matrix of some qubits from the counts of their measurements.

A source prepares the state (|0...0> + |1...1>) / sqrt(2), with a little noise. Each qubit is
measured along X, Y or Z, in all combinations, a few hundred times each. The density matrix that
fits the counts best is a convex problem: it must be positive semidefinite and have trace 1.
"""

from itertools import product

import numpy as np
from matplotlib.figure import Figure

import condal

qubits, shots = 4, 500
d = 2**qubits
rng = np.random.default_rng(0)

# The state that was meant, and the one that is measured: 8% of the time it is lost.
target = np.zeros(d, dtype=complex)
target[[0, -1]] = np.sqrt(0.5)
rho = 0.92 * np.outer(target, target.conj()) + 0.08 * np.eye(d) / d

bases = ["".join(letters) for letters in product("XYZ", repeat=qubits)]
chances = condal.maps.PauliProbabilities(bases).probabilities(rho).reshape(len(bases), d)
chances = np.maximum(chances, 0.0)
counts = rng.multinomial(shots, chances / chances.sum(axis=1, keepdims=True))

squares = condal.problems.state_tomography(counts, bases, name=f"{qubits} qubits")
first = condal.solve(squares, tol=1e-4)
likelihood = condal.problems.state_tomography(counts, bases, loss="likelihood")
result = condal.solve(likelihood, tol=1e-4, warm_start=first)
print(result)

states = {"least squares": squares.state(first), "likelihood": likelihood.state(result)}
true = float(np.vdot(target, rho @ target).real)
for name, state in states.items():
    print(f"{name}: fidelity {state.fidelity(target):.3f} (true {true:.3f}), {state}")
low, high = squares.fidelity_bounds(first, target)
print(f"the best fit by least squares has a fidelity from {low:.3f} to {high:.3f}")

assert result.status is condal.Status.SOLVED
assert all(abs(state.fidelity(target) - true) < 0.05 for state in states.values())
assert low <= states["least squares"].fidelity(target) <= high

figure = Figure(figsize=(9, 3.4))  # some releases of Matplotlib cannot constrain three dimensions
panels = figure.subplots(1, 3, subplot_kw={"projection": "3d"})
figure.subplots_adjust(left=0.02, right=0.94, bottom=0.06, top=0.83, wspace=0.25)
matrices = {"measured state": rho} | {name: state.rho for name, state in states.items()}
row, column = (index.ravel() for index in np.mgrid[:d, :d])
for axes, (name, matrix) in zip(panels, matrices.items(), strict=True):
    heights = np.abs(matrix).ravel()
    colours = np.where(heights > 0.1, "#d55e00", np.where(row == column, "#56b4e9", "#999999"))
    axes.bar3d(column - 0.4, row - 0.4, 0.0, 0.8, 0.8, heights, color=colours, shade=True)
    fidelity = float(np.vdot(target, matrix @ target).real)
    axes.set_title(f"{name}, fidelity {fidelity:.3f}", fontsize=10)
    labels = [f"{k:0{qubits}b}" for k in (0, d - 1)]
    axes.set_xticks([0, d - 1], labels, fontsize=7)
    axes.set_yticks([0, d - 1], labels, fontsize=7)
    axes.set_zlim(0.0, 0.5)
    axes.tick_params(axis="z", labelsize=7)
figure.suptitle(f"Moduli of rho: {qubits} qubits, {counts.sum():,} counts in {len(bases)} bases")
figure.savefig("state_tomography.png", dpi=90)
