"""--kinds: a number of latent kinds, or a column that says of which kind an item is."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from coterie.data.annotations import Annotations
from coterie.data.kinds import kinds_of_column
from coterie.errors import CoterieError
from coterie.io.files import File
from coterie.io.tables import table_of_file
from coterie.models import Estimator


def is_number(kinds: str | None) -> bool:
    """Say whether latent kinds are asked for."""
    return kinds is not None and kinds.isdecimal()


def kinds_told(
    kinds: str | None, model: Estimator, files: Sequence[File], annotations: Annotations
) -> dict[str, Any]:
    """Give what ``fit`` is told of kinds, or say why it cannot be."""
    if kinds is None:
        return {}
    if is_number(kinds):
        if "kinds" not in model.get_params():
            raise CoterieError(
                "a number of --kinds is for the models ibcc, cbcc and hcbcc; choose one by --model"
            )
        return {}
    if "kinds" not in inspect.signature(model.fit).parameters:
        raise CoterieError(
            "--kinds is for the models ds, ibcc, cbcc and hcbcc; choose one by --model"
        )
    if len(files) > 1:
        raise CoterieError("--kinds is a column of one table, but there are several files")
    return {"kinds": kinds_of_column(table_of_file(files[0]), kinds, annotations)}
