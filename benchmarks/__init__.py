"""Figures measured side by side; `python -m benchmarks` runs every module here that has a function `figures()`."""
