"""iBCC, cBCC and hcBCC whose items have kinds, latent or known: a matrix per annotator and kind.

The annotators of the base models become pairs p = l K + k of an annotator and a kind: pairs have
counts, matrices and coteries. ``shared`` has what the three share, the rest is in a file each.
"""
