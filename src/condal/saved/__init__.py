"""Results on disk: a folder of open formats, that anyone can read and `verify` proves again."""

from condal.saved.reading import load
from condal.saved.record import Saved
from condal.saved.trial import Claim
from condal.saved.verdict import Verdict, verify
from condal.saved.writing import save

__all__ = ["Claim", "Saved", "Verdict", "load", "save", "verify"]
