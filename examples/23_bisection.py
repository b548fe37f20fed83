"""Bisection: divide a circuit between two boards with as few wires as possible between them.

Each board takes half of the parts. The best division is hard to find. A semidefinite program bounds
the number of wires between the boards from below, so you know how good a division is.
"""

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import condal

n = 2000
inside, outside = 12.0 / n, 3.0 / n  # the probability of a wire

# A circuit of two modules. Most wires are within a module, and the order of the parts hides it.
rng = np.random.default_rng(0)
module = rng.permutation(np.repeat([1, -1], n // 2))
likely = np.where(np.equal.outer(module, module), inside, outside)
half = sp.csr_array(np.triu(rng.random((n, n)) < likely, 1).astype(float))
model = condal.problems.bisection(half + half.T, name="two boards")

# Solve the relaxation, in which diag x = 1 and x e = 0, to 0.1%.
result = condal.solve(model, tol=1e-3)
print(result)

# Round to halves. No halves have fewer wires between them than the bound.
cut = model.round(result)
print(cut)
print(f"at most {100 * model.excess(cut.signs, result):.1f}% above the optimum")
print(f"the modules have {model.weight(module):.0f} wires between them")

assert result.status is condal.Status.SOLVED
assert cut.signs.sum() == 0
assert result.bound <= cut.weight <= model.weight(module)

# Draw the wires in the order of the parts, and sorted by board.
figure = Figure(figsize=(9, 4.7), layout="constrained")
i, j = model.W.nonzero()
places = [np.arange(n), np.argsort(np.argsort(cut.signs, kind="stable"))]
titles = [f"{i.size // 2:,} wires of {n:,} parts", f"{cut.weight:,.0f} wires between the boards"]
for axes, place, title in zip(figure.subplots(1, 2), places, titles, strict=True):
    crossing = cut.signs[i] != cut.signs[j]
    for which, colour in ((~crossing, "#0072B2"), (crossing, "#D55E00")):
        axes.plot(place[i[which]], place[j[which]], ",", color=colour)
    axes.set(title=title, xlabel="part", xlim=(0, n), ylim=(n, 0), aspect="equal")
figure.axes[0].set_ylabel("part")
figure.suptitle(f"No halves have fewer than {result.bound:.1f} wires between them")
figure.savefig("bisection.png", dpi=85)
