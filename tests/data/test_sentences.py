"""What labels that do not fit are told, and those that work but should be looked at.

Each case of ``sentences.txt`` is what is read, as written in Python, and below it what is said.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from builders.frames import TRIPLES, WIDE, frame_of
from coterie.data import annotations_from
from coterie.errors import DataError, DataWarning

SPACE = {
    **{"np": np, "pd": pd, "pl": pl, "pa": pa, "annotations_from": annotations_from},
    **{"TRIPLES": TRIPLES, "WIDE": WIDE, "frame_of": frame_of},
    "LONG": frame_of("item", "annotator", "label"),
    "NUMBERS": pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 1, 1]}),
}
CASES = Path(__file__).with_name("sentences.txt").read_text("utf-8").split("\n\n")


def said(asked: str) -> list[str]:
    """Give the error of what is asked to be read, or the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            eval(f"annotations_from({asked})", SPACE)
        except DataError as error:
            return [f"Error: {error}"]
    return [str(one.message) for one in caught if one.category is DataWarning]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition("\n")[0])
def test_what_is_said(case):
    asked, *sentences = [line for line in case.splitlines() if line[:1] != "#"]
    assert said(asked) == sentences
