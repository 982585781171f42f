"""Split a coterie in two or merge two, where coteries have parameters: hcBCC and Consensus.

The move is in ``move.py``; ``heaps.py`` counts what members said, ``fit.py`` finds where the
parameters of a heap are, ``density.py`` draws them there, ``pairs.py`` chooses whom to begin with.
``proposals.py`` says how often a sweep tries.
"""
