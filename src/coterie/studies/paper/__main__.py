"""Print the version and the checksum of the code that computes."""

import sys

from coterie.studies.code import this_code
from coterie.studies.paper.store import COMPUTES

if __name__ == "__main__":
    sys.stdout.write(" ".join(this_code(COMPUTES).values()) + "\n")
