"""The curves of a solve, drawn by matplotlib, which is imported when something is drawn."""
