"""The update of the truths z, the same for every model. Read in this order:

``counts``
    what is counted and whose matrix a label uses; how an item moves from one class to another;
``logs``
    the weight of an item's classes as the formula says, in logarithms: never wrong, slow;
``own_matrix``
    the same by tables, where every annotator has a matrix of their own (iBCC, hcBCC);
``shared_matrix``
    the same by products, where annotators share matrices (cBCC);
``sweep``
    all items, one after the other, and the tally of their probabilities.

p(z[i] = t | rest) is proportional to n[t] + eps mu[t] times a ratio for each label of the item,

    (n[matrix, t, c] + beta eta[base, t, c]) / (n[matrix, t] + beta[base, t]),

with the counts of all other items *and of the item's labels before this one*. A model says, for
every annotator, whose *matrix* produced the labels (the row of the counts) and whose *base* that
matrix was drawn from (the row of the Dirichlet shapes):

=======  ====================  ======================
model    matrix                base
=======  ====================  ======================
iBCC     the annotator's own   one for all
cBCC     the coterie's         one for all
hcBCC    the annotator's own   the coterie's
=======  ====================  ======================

Known items (gold) are counted and never move; items with neither label nor gold are not counted,
which integrates them out. The item stays in the counts while it is weighed, and its own class is
weighed with one label less: most items keep their class, and then nothing is written.
"""
