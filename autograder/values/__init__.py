"""What crosses a process border, and nothing else: encoding, numbers, expressions as data, comparison, texts."""
