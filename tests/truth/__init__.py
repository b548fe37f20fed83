"""Small random problems of every family, judged against another solver.

A problem is built twice from the same numbers: from condal's pieces and in CVXPY. The answer is
checked with NumPy alone. `families` has the problems, `rivals` the other solver, `judged` the
checks, and `trial` runs one problem through all of them:

    cd tests && python -m truth FAMILY SEED     reports on one problem.
"""
