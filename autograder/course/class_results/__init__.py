"""The results of a class: kept beside the gradebook, shown as a table."""
