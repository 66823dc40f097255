"""How fast the simulators, the kernels, the ranks and the pages are."""
