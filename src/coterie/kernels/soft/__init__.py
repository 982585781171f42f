"""The soft engine: probabilities of items, sums in fixed point; what is fitted with it."""
