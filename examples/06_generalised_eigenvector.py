"""Generalised eigenvectors: the direction that stands out most from the noise.

A row of microphones listens to one speaker while two others talk. With weights u for the
microphones, the speaker has the power u' Phi u and all other sound the power u' Psi u, which is set
to 1. Maximising the first alone gives huge weights, which amplify the microphones' own noise,
|u|^2; the constraint |u|^2 <= alpha prevents this. A semidefinite program finds the best such u and
proves that it is the best.
(A row with real weights cannot tell left from right: angles are measured from straight ahead.)
"""

import numpy as np
from matplotlib.figure import Figure

import condal

microphones = 20
places = 0.25 * np.arange(microphones)  # in wavelengths
angles = np.radians(np.linspace(0, 90, 361))


def response(angle):
    """cos and sin of the phase, at each microphone, of a sound from this angle."""
    phase = 2 * np.pi * np.multiply.outer(places, np.sin(angle))
    return np.stack([np.cos(phase), np.sin(phase)])


def power(angle):
    """The power matrix of a sound from this angle."""
    return np.einsum("ki,kj->ij", response(angle), response(angle))


speaker, others = np.radians(15), np.radians([40, 65])
Phi = power(speaker)
hum = sum(power(angle) for angle in angles) / angles.size  # diffuse noise from all angles
Psi = 10 * sum(power(angle) for angle in others) + hum

alphas = [0.05, 0.2, 1.0]
solved = []
for alpha in alphas:
    model = condal.problems.generalised_eigenvector(Phi, Psi, alpha, name=f"alpha = {alpha:g}")
    result = condal.solve(model, tol=1e-3)
    print(result)
    best = model.vector(result)
    assert result.status is condal.Status.SOLVED
    assert best.objective <= result.bound * (1 + 1e-9)
    assert best.vector @ best.vector <= alpha * (1 + 1e-9)
    solved.append((best, result))
assert np.all(np.diff([result.bound for _, result in solved]) >= -1e-3 * solved[-1][1].bound)

figure = Figure(figsize=(11, 4.5), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
looks = ((":", "#e69f00"), ("--", "#009e73"), ("-", "#0072b2"))
for (best, _), alpha, (style, colour) in zip(solved, alphas, looks, strict=True):
    gain = np.sum(np.einsum("kia,i->ka", response(angles), best.vector) ** 2, axis=0)
    decibel = 10 * np.log10(np.maximum(gain / best.objective, 1e-5))
    left.plot(np.degrees(angles), decibel, ls=style, c=colour, label=f"alpha = {alpha:g}")
left.axvline(np.degrees(speaker), color="0.6", lw=1)
left.text(np.degrees(speaker) + 1, 3, "speaker")
for angle in np.degrees(others):
    left.axvline(angle, color="#d55e00", lw=1)
    left.text(angle + 1, 3, "other", color="#d55e00")
left.set(
    xlabel="angle from straight ahead (degrees)",
    ylabel="gain against the speaker's (dB)",
    ylim=(-40, 8),
)
left.set_title("What the weighted microphones hear")
left.legend(loc="lower right")
right.semilogx(alphas, [result.bound for _, result in solved], "v", ms=9, mfc="none", label="bound")
right.semilogx(alphas, [best.objective for best, _ in solved], "k.", label="weights found")
right.set(
    xlabel="alpha: own noise allowed", ylabel="speaker's power against all other", ylim=(0, None)
)
right.set_title("No weights are better than the bound")
right.legend()
figure.savefig("generalised_eigenvector.png", dpi=110)
