"""The set `conic`: programs of files, everyday problems of CVXPY, and families of hard programs."""
