"""Print the version and the checksum of the code that computes."""

import sys

from coterie.studies.paper.code import this_code

if __name__ == "__main__":
    sys.stdout.write(" ".join(this_code().values()) + "\n")
