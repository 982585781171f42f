"""Kinds of arrays; how loops are compiled; draws of whole arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
State = dict[str, Array]
"""Where a chain is: arrays by name."""
