"""One file a model: arrays in, arrays changed in place (numba)."""
