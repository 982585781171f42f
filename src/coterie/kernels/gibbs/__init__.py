"""Gibbs samplers, one file or folder per model (numba)."""
