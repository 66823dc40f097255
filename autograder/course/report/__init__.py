"""What a class believes: of each exercise how many are right, which mistakes they make, what no mistake explains, and
whose work is alike. It is read out of what `gpubook grade` has left; nothing of a submission runs."""
