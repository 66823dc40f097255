"""Values that cross a process boundary: encoding, numbers, expressions as data, comparison, texts."""
