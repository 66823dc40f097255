"""`python -m benchmarks.planner`: see `benchmarks.planner.speed_and_regret`."""

from benchmarks.planner.speed_and_regret import main

if __name__ == "__main__":
    main()
