"""Results on disk: save, load and verify."""

from condal.io.results import Claim, Saved, Verdict, load, save, verify

__all__ = ["Claim", "Saved", "Verdict", "load", "save", "verify"]
