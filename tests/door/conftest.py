"""The model's files are no tests; imported as such, its prior would be defined twice."""

collect_ignore = ["onecoin"]
