"""Measured claims: each module prints a table of ratios against its rival, from one run."""
