"""The paper's experiments: tuned trials of every method, figures, and a check of its claims."""
