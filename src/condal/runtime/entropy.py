"""Seeds that nobody can guess."""

from __future__ import annotations

from os import urandom

SEED_BYTES = 6


def unpredictable_seed() -> int:
    """Return a seed from the system's entropy."""
    return int.from_bytes(urandom(SEED_BYTES), "big")
