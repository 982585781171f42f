"""Numbers and draws that the kernels share (numba)."""
