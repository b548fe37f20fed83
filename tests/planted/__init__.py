"""Small conic problems in exact numbers whose status and optimum are known, through every door.

`cones` has the arithmetic, `problem` the truth and its exact check, `planting` the generator,
`forms` a planted problem as a `Problem`, a `Program`, a file or a CVXPY problem, `judging` the
exact judgement of an answer, `doors` the ways into condal, and `trial` runs one problem:

    PYTHONPATH=tests python -m planted DOOR SEED [COUNT]     reports on one problem, or on COUNT.

DOOR may be a group of doors, `conic` or `all`, or several of both, separated by semicolons.
"""
