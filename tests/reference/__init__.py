"""The models written down from the paper, slowly and without increments: the specification."""
