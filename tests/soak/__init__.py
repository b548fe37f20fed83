"""The long forms of the tests: `make soak` runs them all, for SOAK_MINUTES, and ends with a table.

A suite is a name, a part of the time, and a function `run(seconds, seed)` that yields `Row`s as it
goes; rows of one name are added up. To add one, list it in `soak.suites`.
"""
