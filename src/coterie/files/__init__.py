"""How anything is kept on disk: one atomic writer, one container, values and words in it."""
