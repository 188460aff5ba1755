"""How assets/model was made, runnable again: `python -m training`; with --help it lists its stages."""
