"""The rules of a chapter that a machine can check."""
