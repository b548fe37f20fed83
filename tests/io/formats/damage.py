"""Files as they come from a bad disk."""

from __future__ import annotations

from hypothesis import strategies as st


def damaged(data, contents: bytes) -> bytes:
    """The contents with one to four bytes drawn anew."""
    made = bytearray(contents)
    for _ in range(data.draw(st.integers(1, 4))):
        made[data.draw(st.integers(0, len(made) - 1))] = data.draw(st.integers(0, 255))
    return bytes(made)
