"""Newton's method on the surface of the factors R with A(R R') = b."""
