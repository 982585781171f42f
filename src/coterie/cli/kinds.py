"""--kinds: a number of latent kinds, or a column that says of which kind an item is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.data.annotations import Annotations
from coterie.data.gold import kinds_of_column
from coterie.errors import CoterieError
from coterie.io.files import File
from coterie.io.tables import table_of_file
from coterie.models import Estimator
from coterie.models.registry import names_where


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
        if not model.takes.latent_kinds:
            names = names_where(lambda kind: kind.takes.latent_kinds)
            raise CoterieError(
                f"a number of --kinds is for the models {names}; choose one by --model"
            )
        return {}
    if not model.takes.known_kinds:
        names = names_where(lambda kind: kind.takes.known_kinds)
        raise CoterieError(f"--kinds is for the models {names}; choose one by --model")
    if len(files) > 1:
        raise CoterieError("--kinds is a column of one table, but there are several files")
    return {"kinds": kinds_of_column(table_of_file(files[0]), kinds, annotations)}
