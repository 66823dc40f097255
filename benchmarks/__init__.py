"""The library's models beside published measurements and beside simpler models, one program each."""
