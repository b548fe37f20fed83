"""The primal-dual interior-point method, for small linear problems."""
