"""Labs: programs that use the machine they run on, one idea a module; calling one imports torch."""
