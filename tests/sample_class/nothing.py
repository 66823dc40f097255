"""Opens the notebook, looks at it, and hands it in."""


def submit(nb, book):
    pass
