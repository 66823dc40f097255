"""`python -m benchmarks.fidelity`: see `benchmarks.score.fidelity`."""

from benchmarks.score.fidelity import main

if __name__ == "__main__":
    main()
