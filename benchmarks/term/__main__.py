"""`python -m benchmarks.term`: see `benchmarks.term.simulation`."""

from benchmarks.term.simulation import main

if __name__ == "__main__":
    main()
