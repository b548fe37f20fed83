"""Points, symmetric operators, gradients, norms, Lanczos and proved eigenvalue bounds."""
