"""What the page's Python loads: Pyodide, archives of the library, of the exercises and of packages, and a snapshot."""

from .python_folder import PythonError, build

__all__ = ["PythonError", "build"]
