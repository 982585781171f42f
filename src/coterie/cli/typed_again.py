"""The command line as it can be typed again: what a result says it was made by."""

from __future__ import annotations

import shlex
import sys


def typed_again(*left_out: str) -> str:
    """Give the command line without ``--force`` and some options, which change no result.

    Parameters
    ----------
    left_out
        Options that have a value, by all their names, such as ``"--out"`` and ``"-o"``.
    """
    words, kept = iter(sys.argv[1:]), ["coterie"]
    for word in words:
        if word in left_out:
            next(words, None)
        elif word != "--force" and not word.startswith(tuple(f"{name}=" for name in left_out)):
            kept.append(word)
    return shlex.join(kept)
