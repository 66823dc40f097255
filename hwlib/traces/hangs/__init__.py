"""Jobs that hang: flight-recorder dumps and NCCL's RAS reports read, and who did not enter which call."""
