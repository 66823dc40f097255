"""What the labs, the kernels and a training step measure on a GPU, beside the models."""
