"""What the page's Python does: it runs a reader's cell, and says what the notebook's `check` says.

It is loaded by Pyodide in a worker of the page (docs/_static/python-worker.js), by the tests under node, and by plain
Python. `book.live_files` collects what it needs.
"""
