"""Seeds that nobody can guess."""

from __future__ import annotations

import os

SEED_BYTES = 6


def unpredictable_seed() -> int:
    """Return a seed from the system's entropy."""
    return int.from_bytes(os.urandom(SEED_BYTES), "big")
