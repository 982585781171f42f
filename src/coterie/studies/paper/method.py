"""How the results were made, in words: what the paper leaves open, and what was chosen."""

from __future__ import annotations

METHOD = (
    "Priors are the paper's: mean 0.7 on a class's own answer and 0.3 shared by the others, worth "
    "3 labels; alpha ~ Gamma(1, 10); beta ~ Gamma(20, 2) in hcBCC, Gamma(30, 2) for the "
    "synthetic sets; ten auxiliary clusters.",
    "The whole real sets are fitted several times with four pooled chains from starts that are far "
    "apart. Thinned sets are fitted once with one chain, which starts from the vote and one "
    "cluster: the paper's way. No chain is stopped early.",
    "A random database keeps n labels of a set: first of every item one of its labels, each "
    "equally likely; then, of every annotator who has none among those, one of theirs, each "
    "equally likely; then as many of the others as are missing to n, every subset equally likely. "
    "So every item and every annotator keeps a label. All models are fitted to the same databases.",
    "Levels of the real sets: their own sparsity, then 25 %, 50 %, and from 75 % on in steps of "
    "2.5 %, as far as n is at least the number of items and annotators together.",
    "An item's label is its most probable class, the lowest if several are; the vote's ties go to "
    "the lowest class too.",
    "Every fit has a seed of its own, derived from its name: the order of the fits and the number "
    "of processes change nothing.",
)
