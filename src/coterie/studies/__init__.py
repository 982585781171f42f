"""Many fits, and what they say together: the league of models, and the replay of policies."""
