"""Augmented Lagrangian sweeps over vectors on spheres."""
