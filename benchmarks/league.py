"""Put a new league into the page that says why.

`python -m benchmarks.league FOLDER docs/league.md`, after ``coterie compare --out FOLDER``. Tables
and picture are new; what stands between ``<!-- by hand -->`` and ``<!-- /by hand -->`` in the page
stays, before the table of all data sets, and with it what other benchmarks fill in there.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from coterie.studies.league_pages import CURVES

BEGIN, END = "<!-- by hand -->\n", "<!-- /by hand -->\n"
BEFORE = "\n## Data set by data set\n"


def merge(new: str, page: str) -> str:
    """Give the new text with the parts of the page that were written by hand."""
    kept = re.findall(f"{BEGIN}.*?{END}", page, re.DOTALL)
    head, found, tail = new.partition(BEFORE)
    if not (kept and found):
        sys.exit(f"nothing is merged: the page has no {BEGIN.strip()}, or the league no rows")
    return f"{head}\n{''.join(kept)}{found}{tail}"


def main() -> None:
    folder, page = map(Path, sys.argv[1:3])
    page.write_text(merge((folder / "compare.md").read_text(), page.read_text()))
    shutil.copyfile(folder / CURVES, page.parent / CURVES)


if __name__ == "__main__":
    main()
