"""`python -m benchmarks.gpu`: see `benchmarks.gpu.labs`."""

from benchmarks.gpu.labs import main

if __name__ == "__main__":
    main()
