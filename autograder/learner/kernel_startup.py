"""What a kernel of the book runs first, as its PYTHONSTARTUP: it says which cell to run where the first has not run.

JupyterLab hands the variable on to any Python that is started from it, and IPython runs the file among the learner's
own names: so it imports nothing of the book until a package of its extras is missed, is silent elsewhere, and leaves no
name behind.
"""


def _watch():
    import builtins
    from pathlib import Path
    from typing import Any

    shell: Any = getattr(builtins, "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None or not Path("exercises.json").is_file():  # in a chapter's notebook only
        return

    def explain(result):
        import sys

        if "autograder.learner" in sys.modules:  # the imports have run: from now on `cell_errors` explains
            shell.events.unregister("post_run_cell", explain)
            return
        error, say = result.error_in_exec, ""
        if isinstance(error, NameError):
            say = (
                "This kernel has just started: run the first cell of the notebook (the imports), "
                "or *Run > Run All Above Selected Cell*, and then this one."
            )
        elif isinstance(error, ModuleNotFoundError):
            from autograder.values.error_advice import advice

            say = advice("ModuleNotFoundError", str(error))
        if say:
            from IPython.display import display

            display({"text/plain": say.replace("*", ""), "text/markdown": say}, raw=True)

    shell.events.register("post_run_cell", explain)


_watch()
del _watch
