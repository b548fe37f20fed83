"""The long forms of the tests: `make soak` runs them for a given time and prints a table.

A suite is a name, a share of the time, and a function `run(seconds, seed)` that yields `Row`s.
Rows of the same name are added. To add a suite, list it in `soak.suites`.
"""
