"""A checkpoint that many ranks write: a folder, in which each has a part, and one manifest."""
