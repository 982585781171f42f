"""What the paper prints, with the table or figure it comes from."""

from __future__ import annotations

from typing import NamedTuple

MODELS = {"majority": "majority", "ibcc": "iBCC", "cbcc": "cBCC", "hcbcc": "hcBCC"}
"""Our names of the models, and the paper's."""


class Description(NamedTuple):
    """A row of the paper's table of data sets."""

    items: int
    annotators: int
    labels_per_annotator: int
    labels_per_item: int
    sparsity: float  # percent


class Clusters(NamedTuple):
    """An average number of clusters: mean and one standard deviation."""

    mean: float
    sd: float


DESCRIPTION = {  # table "Description of the real datasets"
    "bluebird": Description(108, 39, 108, 39, 0.0),
    "rte": Description(800, 164, 49, 10, 93.90),
    "valence": Description(100, 38, 26, 10, 73.68),
    "temp": Description(462, 76, 61, 10, 86.84),
}

ACCURACY = {  # table "Results for the real data", percent
    "bluebird": {"majority": 75.93, "ibcc": 89.81, "cbcc": 88.89, "hcbcc": 88.89},
    "rte": {"majority": 91.88, "ibcc": 92.88, "cbcc": 93.12, "hcbcc": 93.12},
    "valence": {"majority": 80.00, "ibcc": 85.00, "cbcc": 88.00, "hcbcc": 89.00},
    "temp": {"majority": 93.94, "ibcc": 94.35, "cbcc": 94.37, "hcbcc": 94.37},
}

CLUSTERS = {  # the same table, "Average number of clusters"
    "bluebird": {"cbcc": Clusters(11.32, 0.04), "hcbcc": Clusters(3.31, 0.09)},
    "rte": {"cbcc": Clusters(7.70, 0.07), "hcbcc": Clusters(2.30, 0.06)},
    "valence": {"cbcc": Clusters(3.5, 0.04), "hcbcc": Clusters(2.25, 0.02)},
    "temp": {"cbcc": Clusters(6.20, 0.03), "hcbcc": Clusters(3.2, 0.02)},
}

SHARES = {  # text beside figure "Mean confusion matrices of the user's clusters", percent
    "bluebird": (35.90, 33.33, 15.38, 15.38),
    "rte": (93.29,),
    "valence": (89.47,),
    "temp": (84.21,),
}
"""Shares of the clusters that the paper names, largest first; it names all four of bluebird."""

SHOWN = {"bluebird": 4, "rte": 2, "valence": 2, "temp": 3}
"""Clusters that the same text describes."""

ROLES = {  # the same text: the clusters it describes
    "bluebird": "15.38 % experts; 35.90 % good on class 1 and poor on class 2; 15.38 % who mostly "
    "say 2 and 33.33 % who mostly say 1",
    "rte": "93.29 % good; the others lean towards class 2",
    "valence": "89.47 % very good on class 2 and fair on class 1; the others almost always say 2",
    "temp": "84.21 % experts; two small clusters of spammers",
}
