"""The book as static HTML, and what its pages are made of."""
