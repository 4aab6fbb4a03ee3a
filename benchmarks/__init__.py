"""Speed, measured beside peers in the same process: ``python -m benchmarks.noise``."""
