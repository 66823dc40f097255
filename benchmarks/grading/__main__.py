"""`python -m benchmarks.grading`: see `benchmarks.grading.costs`."""

from benchmarks.grading.costs import main

if __name__ == "__main__":
    main()
