"""Studies of many fits: the league of models on data sets, and the paper again."""
