"""Four labels in memory, and what tests of reading them share."""

import pandas as pd
import pytest

from coterie.data import annotations_from
from coterie.data.annotations import Annotations
from coterie.errors import DataError

TRIPLES = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "no")]
WIDE = pd.DataFrame(
    {
        "task": ["t2", "t10", "t3"],
        "ann": ["yes", "no", None],
        "bob": ["no", "yes", " "],
        "cy": [None, None, None],
        "truth": ["yes", None, "no"],
    }
)


def refused(*args, **kwargs) -> str:
    with pytest.raises(DataError) as caught:
        annotations_from(*args, **kwargs)
    return str(caught.value)


def frame_of(*names: str) -> pd.DataFrame:
    return pd.DataFrame(TRIPLES, columns=list(names))


def labels_of(annotations: Annotations) -> list[tuple]:
    return list(annotations.to_frame().itertuples(index=False, name=None))
