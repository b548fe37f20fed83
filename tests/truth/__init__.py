"""Small random problems of every family, judged against another solver.

A problem is made twice from the same numbers: by condal's pieces, and by CVXPY's; what is asked of
an answer is computed by NumPy alone. `families` has the problems, `rivals` the other solver,
`judged` the questions, and `trial` puts one problem through them all:

    cd tests && python -m truth FAMILY SEED     tells the story of one.
"""
