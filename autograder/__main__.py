"""`python -m autograder` is `gpubook`."""

from .cli import main

main()
