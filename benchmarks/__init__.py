"""What is measured against others, in the same run: ``python -m benchmarks [--labels N]``."""
