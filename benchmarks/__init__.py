"""Measured claims: each module prints a table of ratios against its rival, made in one run."""
