"""The update of items that sit in cells: one for every model whose items have more than a class.

A cell f has a class t(f) and, beside it, a kind: a sub-type of the class, easy or hard, a kind of
item. Read in this order:

``space``
    which cells there are, and how likely an item is to sit in each: a chain of choices;
``rows``
    the row map: from which row of which matrix an annotator answers in a cell;
``tables``
    what the counts make of rows and priors, up to date; where labels are in it;
``products``
    the weights of an item's cells by the tables, while its labels are counted, or taken out;
``items``
    one item is weighed and moved; all of them, one after the other;
``tally``
    what a sweep leaves behind about the items.

p(cell[i] = f | rest) is proportional to the prior of f times a ratio for each label of the item,

    (n[r, c] + a[r, c]) / (n[r] + a[r]),    r = row[l, f],

with the counts of all other items *and of the item's labels before this one*: they may have come
from the same row. A model brings a space and a row map:

============  =========================  =====================================================
model         cells                      row of annotator l
============  =========================  =====================================================
iBCC          classes                    class t of their own matrix
EBCC          class and sub-type s       class t of their own matrix for s (``nested_space``)
EasyHardBCC   class, and easy or hard    easy: of the one matrix of all; hard: of their own
kinds=K       class and kind k           class t of their own, or their coterie's, matrix for k
============  =========================  =====================================================

Where cells share no rows (all but cBCC) an item stays counted while it is weighed, and in its own
cell its labels are left out; most items keep their cell, and then nothing is written. Others are
taken out first. Four cells, as of two classes and two kinds, have an update without loops over
cells: the same steps, bit by bit. Known classes (gold) and known kinds allow only some cells. Items
without labels sit in no cell (-1), which integrates them out; of those only gold is counted, and
only in the first choice.
"""
