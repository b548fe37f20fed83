"""Why a claim of the paper does or does not hold, in one line.

The keys are texts of claims, or "INSTANCE: TEXT" for one instance.
"""

from __future__ import annotations

from condal_lab.experiments.claims import PaperClaim

REMARKS: dict[str, str] = {
    "HCGM converges at its worst-case rate: slope about -1/2": (
        "at a large lam0 the multiplier lam (Ax - b) first overshoots y*, and until it has come "
        "back the gap falls faster than 1/sqrt(k); at a tenth of lam0 the slopes are near -1/2"
    ),
    "CGAL (const.) has an empirical O(1/k) rate: slope about -1 or faster": (
        "both slopes are near -1; the interval of |f - f*| reaches the limit of -0.8"
    ),
    "CGAL (decr.) is ahead of HCGM": (
        "not where the first dual steps throw y far beyond y*: its error then falls only like "
        "1/sqrt(k)"
    ),
    "CGAL (const.) is ahead of CGAL (decr.)": (
        "the error of y falls like exp(-2 sqrt k) with const., like 1/sqrt(k) with decr."
    ),
    "The best eps of UPD is about |f*|/10 to |f*|/100": (
        "eps trades the length of the steps against the level of saturation, so the best one "
        "depends on the budget"
    ),
    "IAL is ahead of IAL (line s.)": (
        "a line search from the last iterate does not jump away at the start of a subproblem, so "
        "subproblems take fewer calls"
    ),
    "g40: CGAL (const.) is ahead of UPD": (
        "a tie: the score counts the last half of the calls, where CGAL overtakes UPD; it ends at "
        "7.9e-3, UPD at 1.9e-2"
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
