"""The update of z, the truth of the items, where matrices are integrated out (numba)."""
