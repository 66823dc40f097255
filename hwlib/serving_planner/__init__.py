"""The serving planner: how to serve a model on GPUs, at a limit of latency, and why."""
