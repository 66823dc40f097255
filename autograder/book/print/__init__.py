"""The whole book in one file: for paper, and for a reader."""
