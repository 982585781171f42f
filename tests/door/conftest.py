"""The model's file is no test; imported as such, its prior would be defined twice."""

collect_ignore = ["difficulty.py"]
