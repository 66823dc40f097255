"""Constants fitted to the measured rows, and written where they stand."""
