"""The computed numbers of a chapter: those that are dragged, that follow, and where each comes from."""
