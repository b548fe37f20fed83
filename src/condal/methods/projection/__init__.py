"""Methods that project onto X: operator splitting and primal-dual."""
