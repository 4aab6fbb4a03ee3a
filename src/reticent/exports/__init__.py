"""Ways out to other tools: OpenDP measurements, entries of the registry of DP deployments."""
