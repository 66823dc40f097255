"""What runs in the page's Python under node, for tests and benchmarks."""
