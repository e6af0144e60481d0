"""What the four documents report, made again: ``python -m reproduce``."""
