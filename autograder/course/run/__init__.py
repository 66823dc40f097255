"""One run over a class: its workers, its journal, and what it enters into the gradebook."""
