"""The claims of section 5 and appendix B of the paper, each as a measurement of a study.

`CRITERIA` says in words what the tests measure.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

from condal_lab.experiments.claims import (
    ClaimVerdict,
    Measured,
    PaperClaim,
    Study,
    Tuned,
    claim,
    label,
)
from condal_lab.experiments.contenders import Setting
from condal_lab.experiments.curve import Decay, Slope, decay

HALF_SLOPE = (-0.65, -0.35)  # "about -1/2"
ONE_SLOPE = (-inf, -0.9)  # "at or below -1"
NEARLY_ONE_SLOPE = (-inf, -0.8)  # "about -1", or faster
FLAT_SLOPE = -0.15  # a slope above this is saturation
FALLING_SLOPE = -0.25  # a slope below this is not
SIMILAR_SLOPES = 0.25  # slopes that differ by less are similar
MUCH_WORSE = 10.0  # the factor that counts as much worse
SUDDEN_DROP = 10.0  # the depth of a dip that counts as a sudden drop
CONVERGED_MERIT = 1e-6  # of atoms that have converged
NEARLY_SAME_COST = 0.1  # of HCGM's iteration: what CGAL's dual step may add to it

CRITERIA = (
    "The merit of an iterate is max(|f - f*| / |f*|, infeasibility); the infeasibility of Ax = b "
    "is |Ax - b| / max(1, |b|).",
    "The score of a trial is the largest merit over the last half of its calls, which a change of "
    "the sign of f - f* does not lower; ahead means a lower score, each method with its best "
    "parameters.",
    "A slope is fitted to log(residual) against log(calls) over the last two decades [K/100, K], K "
    "the last call before the residual reaches ten times the reference's own gap. The window is "
    "cut into eight equal parts; each is represented by its largest residual, so the dip of a sign "
    "change does not enter. Brackets hold the 95% confidence interval (Student).",
    f"About -1/2 means in [{HALF_SLOPE[0]}, {HALF_SLOPE[1]}]; at or below -1 means at most "
    f"{ONE_SLOPE[1]}; about -1 or faster means at most {NEARLY_ONE_SLOPE[1]}. A claim about a rate "
    "holds if the intervals of |f - f*| and of the feasibility gap both comply as a whole, does "
    "not hold if one of them lies outside as a whole, and is undecided otherwise.",
    f"Saturated means a slope of |f - f*| above {FLAT_SLOPE} over the last decade, up to eps means "
    f"at a level of at most eps; no saturation means a slope below {FALLING_SLOPE}; similar slopes "
    f"differ by less than {SIMILAR_SLOPES}.",
    "The lmo dominates if it takes more than half of the processor time at the best parameters; "
    "the fully corrective step, which the paper does not run, is left out.",
    "An iteration of CGAL costs nearly the same as one of HCGM if, at the same lam0, its processor "
    f"time outside the lmo exceeds HCGM's by at most {NEARLY_SAME_COST:.0%} of HCGM's iteration.",
    f"Much worse means by a factor of {MUCH_WORSE:g}; a sudden drop is a dip of the objective "
    f"residual below 1/{SUDDEN_DROP:g} of its value at a third fewer and a third more calls.",
    f"Atoms converge linearly if their merit ends below {CONVERGED_MERIT:g} and exp(-c k) fits its "
    "envelope better (R^2 of the logarithm, all calls of equal weight) than exp(-c sqrt k) and a "
    "power of k.",
)

Test = Callable[[Study], PaperClaim]


def rate(name: str, where: str, text: str, band: tuple[float, float]) -> Test:
    """Test whether both slopes of the method lie in the band, at its best parameters."""

    @claim(where, text)
    def test(study: Study) -> Measured:
        slopes = study.slopes(study.tuned[name].curve)
        return _describe_slopes(study, name), _rate_verdict(slopes, band)

    return test


def _rate_verdict(slopes: tuple[Slope, Slope], band: tuple[float, float]) -> ClaimVerdict:
    complies = [slope.complies(*band) for slope in slopes]
    if None not in complies or False in complies:
        return ClaimVerdict.of(all(complies))
    known = all(isfinite(slope.value) for slope in slopes)
    return ClaimVerdict.UNDECIDED if known else ClaimVerdict.UNTESTED


hcgm_is_slow = rate(
    "hcgm", "5.1, B", "HCGM converges at its worst-case rate: slope about -1/2", HALF_SLOPE
)
cgal_is_fast = rate(
    "cgal", "5.1", "CGAL (const.) is faster than O(1/k): slope at or below -1", ONE_SLOPE
)
cgal_is_nearly_one = rate(
    "cgal",
    "5.2",
    "CGAL (const.) has an empirical O(1/k) rate: slope about -1 or faster",
    NEARLY_ONE_SLOPE,
)


def ahead(first: str, second: str, where: str) -> Test:
    """Test whether the first method's best score is below the second's."""

    @claim(where, f"{label(first)} is ahead of {label(second)}")
    def test(study: Study) -> Measured:
        a, b = study.tuned[first].score, study.tuned[second].score
        return f"{a:.1e} against {b:.1e}", a < b

    return test


@claim("5", "The cost of every method is dominated by the lmo")
def oracle_dominates(study: Study) -> Measured:
    """Test whether the oracle takes most of the time of every method of the paper."""
    shares = {
        name: tuned.trial.oracle_share
        for name, tuned in study.tuned.items()
        if name != "corrective"
    }
    least = min(shares, key=lambda name: shares[name])
    said = f"{shares[least]:.0%} of the processor time or more (least: {label(least)})"
    return said, shares[least] > 0.5


@claim("B", "CGAL has no trouble without a bound on |y| (D_Y = inf, as in all runs here)")
def unbounded_duals(study: Study) -> Measured:
    """Test whether CGAL runs well without a bound on |y|."""
    names = [name for name in ("cgal", "cgal-decr") if name in study.tuned]
    trials = [t for name in names for t in study.tuned[name].trials.values()]
    broken = sum(t.ended not in ("calls", "seconds", "converged") for t in trials)
    return f"{broken} of {len(trials)} trials broke down", broken == 0


def atoms_converge(name: str, *, linearly: bool) -> Test:
    """Test whether the atoms of a method converge at a linear rate."""
    verb = "converge linearly" if linearly else "do not converge linearly"

    @claim("5.3", f"The atoms s_k of {label(name)} {verb}")
    def test(study: Study) -> Measured:
        curve = study.tuned[name].curve
        merit = decay(curve.calls, curve.atom_merit(study.optimum), max(study.floor, 1e-12))
        truth = merit.last <= CONVERGED_MERIT and merit.law == "linear"
        return _describe_decay(merit), truth == linearly

    return test


@claim("6", "An iteration of CGAL costs nearly the same as an iteration of HCGM")
def cost_is_nearly_the_same(study: Study) -> Measured:
    """Test whether CGAL's dual step adds little to the cost of HCGM's iteration."""
    cgal, hcgm = study.tuned["cgal"], study.tuned["hcgm"]
    shared = sorted(set(cgal.trials) & set(hcgm.trials))
    if not shared:
        return "no lam0 was tried with both", None
    ours, ours_outside = _cost(cgal, shared)
    theirs, theirs_outside = _cost(hcgm, shared)
    said = (
        f"outside the lmo {1e3 * ours_outside:.2g} ms against {1e3 * theirs_outside:.2g} ms, of "
        f"{1e3 * ours:.2g} and {1e3 * theirs:.2g} ms in all"
    )
    return said, ours_outside - theirs_outside <= NEARLY_SAME_COST * theirs


def _cost(tuned: Tuned, settings: list[Setting]) -> tuple[float, float]:
    """Return the processor time per oracle call, in all and outside the oracle."""
    trials = [tuned.trials[setting] for setting in settings]
    calls = sum(trial.oracle_calls for trial in trials)
    outside = sum((1 - trial.oracle_share) * trial.cpu_seconds for trial in trials)
    return sum(trial.cpu_seconds for trial in trials) / calls, outside / calls


def _describe_slopes(study: Study, name: str) -> str:
    """Describe the slopes of the best trial, and of its neighbours without their intervals."""
    tuned = study.tuned[name]
    objective, feasibility = study.slopes(tuned.curve)
    others = []
    for setting, trial in sorted(tuned.trials.items()):
        if sum(abs(a - b) for a, b in zip(setting, tuned.setting, strict=True)) == 1:
            slopes = study.slopes(trial.curve.iterates)
            pair = " and ".join(f"{slope.value:.2f}" for slope in slopes)
            others.append(f"{tuned.contender.describe(setting)}: {pair}")
    near = f"; {'; '.join(others)}" if others else ""
    return f"slopes {objective} of |f - f*| and {feasibility} of the feasibility gap{near}"


def _describe_decay(merit: Decay) -> str:
    fits = ", ".join(f"{fit:.3f} for {law}" for law, fit in merit.fits.items())
    return f"merit ends at {merit.last:.1e}; R^2 {fits}" if fits else f"merit {merit.last:.1e}"
