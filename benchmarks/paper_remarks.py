"""Why a claim of the paper does or does not hold, in one line."""

from __future__ import annotations

from condal.lab.experiments.claims import PaperClaim

REMARKS: dict[str, str] = {}


def remark(claim: PaperClaim) -> str:
    """Return the line about a claim; empty if the numbers speak for themselves."""
    return REMARKS.get(f"{claim.instance}: {claim.text}", REMARKS.get(claim.text, ""))
