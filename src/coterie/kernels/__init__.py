"""One file per model: arrays in, arrays changed in place (numba)."""
