"""Reproductions of the papers' experiments: not shipped in the wheel, one package per paper."""
