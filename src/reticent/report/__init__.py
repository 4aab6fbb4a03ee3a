"""Pictures of what was planned and released, as files that need nothing else."""
