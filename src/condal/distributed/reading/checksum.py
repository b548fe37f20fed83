"""CRC-32 of bytes in parts: that of AB is crc(A) x^(8 |B|) + crc(B), modulo the polynomial P.

A polynomial over two elements is 32 bits, the coefficient of x^0 first.
"""

from __future__ import annotations

from collections.abc import Iterable

P = 0xEDB88320  # without x^32
ONE, X = 1 << 31, 1 << 30


def joined(parts: Iterable[tuple[int, int]]) -> int:
    """The sum of what parts make one after another, each given by its own sum and its length in
    bytes."""
    total = 0
    for crc, length in parts:
        total = _times(total, _power(8 * length)) ^ crc
    return total


def _times(a: int, b: int) -> int:
    """a b mod P."""
    product = 0
    for place in range(31, -1, -1):
        if b >> place & 1:
            product ^= a
        a = a >> 1 ^ (P if a & 1 else 0)  # a x
    return product


def _power(exponent: int) -> int:
    """x^exponent mod P."""
    power, square = ONE, X
    while exponent:
        if exponent & 1:
            power = _times(power, square)
        square = _times(square, square)
        exponent >>= 1
    return power
