"""The curves of a solve, drawn with matplotlib, which is imported on use."""
