"""Why a claim of the paper does or does not hold, in one line.

The keys are texts of claims, or "INSTANCE: TEXT" for one instance.
"""

from __future__ import annotations

from condal.lab.experiments.claims import PaperClaim

REMARKS: dict[str, str] = {
    "HCGM converges at its worst-case rate: slope about -1/2": (
        "a large lam0 is best for a short run: the multiplier lam (Ax - b) first overshoots y*, "
        "and until it comes back the gap falls faster than 1/sqrt(k)"
    ),
    "CGAL (const.) is faster than O(1/k): slope at or below -1": (
        "a curve that falls in steps has a wide interval"
    ),
    "CGAL (const.) has an empirical O(1/k) rate: slope about -1 or faster": (
        "both slopes are near -1; the two decades include the first iterations of a short run"
    ),
    "CGAL (decr.) is ahead of HCGM": (
        "not where the first dual steps throw y far beyond y*: its error then falls only like "
        "1/sqrt(k)"
    ),
    "CGAL (const.) is ahead of CGAL (decr.)": (
        "the error of y falls like exp(-2 sqrt k) with const., like 1/sqrt(k) with decr."
    ),
    "The best eps of UPD is about |f*|/10 to |f*|/100": (
        "eps trades the length of the steps against the level of saturation: the shorter the run, "
        "the larger the best eps"
    ),
    "IAL is ahead of IAL (line s.)": (
        "a line search from the last iterate does not jump away at the start of a subproblem, so "
        "subproblems take fewer calls"
    ),
    "UPD cannot be tuned by eps: its best is much worse than CGAL's": (
        "the factor is just below 10 in this short run, in which neither method has converged"
    ),
    "AUPD gets stuck in its line search on problems of medium size": (
        "the lmo errs by at most a hundredth of what the line search tolerates here, and a better "
        "answer replaces a worse one, so its condition stays well defined"
    ),
    "gd97b: The cost of every method is dominated by the lmo": (
        "an lmo of a 47 x 47 matrix is cheaper than the bookkeeping of an iteration"
    ),
    "mnist: The cost of every method is dominated by the lmo": (
        "Ax holds all entries of x, whose update costs more than the few products of the lmo"
    ),
    "The atoms s_k of CGAL (const.) converge linearly": (
        "exp(-c sqrt k) fits best, and is the law of the dual step"
    ),
    "UPD depends on the scale of the objective in addition to eps": (
        "UPD at t f and t eps takes the steps of UPD at f and eps"
    ),
}


def remark(claim: PaperClaim) -> str:
    """Return the line about a claim; empty if the numbers speak for themselves."""
    return REMARKS.get(f"{claim.instance}: {claim.text}", REMARKS.get(claim.text, ""))
