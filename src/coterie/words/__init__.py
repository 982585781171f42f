"""Names and numbers for people: shared by reports, plots, studies and the command line."""
