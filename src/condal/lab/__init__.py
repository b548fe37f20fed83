"""Measurements: the benchmark against other solvers and the experiments of the paper."""
