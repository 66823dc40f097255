"""`python -m benchmarks.fit`: see `benchmarks.fit.groups`."""

from benchmarks.fit.groups import main

if __name__ == "__main__":
    main()
