"""One file per command: what may be typed. What it does is in the file of its name in cli/."""
