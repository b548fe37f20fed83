"""Points, gradients, symmetric operators, norms, Lanczos and proved eigenvalue bounds."""
