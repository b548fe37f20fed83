"""Angular synchronisation: recover angles from noisy differences of pairs.

Sensors, cameras or clocks each have an unknown angle, and only differences between some pairs are
measured, with noise. The angles that agree best with all measurements solve a problem over complex
numbers of modulus 1, which is hard in general. Its relaxation is a semidefinite program over
Hermitian matrices. Up to a considerable noise level, its solution solves the hard problem and
proves it.
"""

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import condal

n, pairs = 1000, 15_000
rng = np.random.default_rng(0)
truth = rng.uniform(-np.pi, np.pi, n)
i, j = rng.integers(0, n, (2, pairs))
i, j = i[i != j], j[i != j]
disturbance = rng.standard_normal(i.size)

noises = np.radians(np.linspace(0, 120, 9))  # standard deviations, in radians
errors, proved = [], []
for noise in noises:
    differences = np.exp(1j * (truth[i] - truth[j] + noise * disturbance))
    half = sp.coo_array((differences, (i, j)), shape=(n, n)).tocsr()
    name = f"noise of {np.degrees(noise):.0f} degrees"
    model = condal.problems.angular_synchronisation(half + half.conj().T, name=name)
    result = condal.solve(model, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    rounded = model.round(result)
    assert rounded.value <= result.bound * (1 + 1e-9)
    deviations = np.degrees(np.angle(rounded.aligned(truth) / np.exp(1j * truth)))
    errors.append(np.sqrt(np.mean(deviations**2)))
    # The certificate of the angles: no others agree better by more than a millionth.
    proved.append(model.certificate(rounded.phases).gap <= 1e-6)
    print(f"{name}: error {errors[-1]:5.1f} degrees" + ", proved optimal" * proved[-1])
    if np.degrees(noise) <= 60:
        shown = np.degrees(noise), rounded.aligned(truth)
print(result)

assert errors[0] < 0.1
assert proved[0]
assert proved[1]

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
left.plot(np.degrees(truth), np.degrees(np.angle(shown[1])), ".", ms=4, color="#0072B2")
left.axline((0, 0), slope=1, color="#999999", lw=1)
left.set(xlabel="true angle, degrees", ylabel="angle found, degrees", aspect="equal")
left.set(xlim=(-190, 190), ylim=(-190, 190), xticks=(-180, 0, 180), yticks=(-180, 0, 180))
left.set_title(f"measured to {shown[0]:.0f} degrees")
degrees, best = np.degrees(noises), np.array(proved)
right.plot(degrees, errors, "o-", color="#0072B2", label="error of the angles")
right.plot(degrees, degrees, ":", color="#D55E00", label="error of a measurement")
right.plot(
    degrees[best],
    np.array(errors)[best],
    "o",
    ms=13,
    mfc="none",
    mec="black",
    label="proved: no angles agree better",
)
right.set(xlabel="noise of a measurement, degrees", ylabel="degrees (root mean square)")
right.set_title(f"{n:,} angles from {i.size:,} differences of pairs")
right.legend(frameon=False)
figure.savefig("angular_synchronisation.png", dpi=110)
