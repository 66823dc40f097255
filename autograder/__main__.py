"""`python -m autograder` is `gpubook`."""

from .cli.commands import main

main()
