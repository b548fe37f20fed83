"""Accelerated projected gradients over matrices of low rank."""
