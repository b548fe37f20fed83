"""Sign synchronisation: recover signs from many unreliable comparisons.

Every item has a sign, +1 or -1. For some pairs it is known whether the signs are equal, but a share
of these answers is wrong. The signs that agree with most answers are hard to find in general. Up to
a certain noise level a semidefinite program finds them and proves that no others agree with more.
"""

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import condal

n, pairs = 2000, 60_000
rng = np.random.default_rng(0)
truth = rng.choice([-1.0, 1.0], n)
i, j = rng.integers(0, n, (2, pairs))
i, j = i[i != j], j[i != j]
threshold = rng.random(i.size)  # an answer is wrong if its threshold is below the share of errors

shares, recovered, proved, ratios = np.linspace(0.0, 0.5, 11), [], [], []
for share in shares:
    answers = truth[i] * truth[j] * np.where(threshold < share, -1.0, 1.0)
    half = sp.coo_array((answers, (i, j)), shape=(n, n)).tocsr()
    model = condal.problems.sign_synchronisation(half + half.T, name=f"{share:.0%} wrong")
    result = condal.solve(model, tol=1e-4)
    rounded = model.round(result)
    assert result.status is condal.Status.SOLVED
    assert rounded.value <= result.bound * (1 + 1e-9)
    recovered.append(rounded.agreement(truth))
    ratios.append(rounded.value / result.bound)
    # Values come in steps of 4: signs less than 4 below a bound are optimal.
    proved.append(model.certificate(rounded.signs).bound - rounded.value < 4)
    print(f"{share:4.0%} wrong: {100 * recovered[-1]:5.1f}% of the signs recovered,", end=" ")
    print(f"{100 * ratios[-1]:6.2f}% of the bound" + ", proved optimal" * proved[-1])
print(result)

assert recovered[0] == recovered[1] == 1.0
assert proved[0]
assert proved[1]

figure = Figure(figsize=(8, 4), layout="constrained")
axes = figure.subplots()
axes.plot(100 * shares, 100 * np.array(recovered), "o-", color="#0072B2", label="signs recovered")
axes.plot(100 * shares, 100 * np.array(ratios), "s--", color="#D55E00", label="value / bound")
best = np.array(proved)
axes.plot(
    100 * shares[best],
    100 * np.array(recovered)[best],
    "o",
    ms=13,
    mfc="none",
    mec="black",
    label="proved: no signs agree with more",
)
axes.axhline(50, color="#999999", lw=1, ls=":")
axes.annotate("guessing", (0, 50.5), color="#666666")
axes.set(xlabel="wrong answers, %", ylabel="%", ylim=(45, 104))
axes.set_title(f"{n:,} signs from {i.size:,} comparisons of pairs")
axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.12), frameon=False)
figure.savefig("sign_synchronisation.png", dpi=110)
