"""Small real training runs, each with one planted cause of slowness or failure, that print as known programs do."""
