"""Commands that read what a job recorded of itself: the profiler's traces, and the dumps of a job that hangs."""
