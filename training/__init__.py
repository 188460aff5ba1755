"""How assets/model was made, runnable again: `python -m training` does everything, `python -m training --help` lists the stages."""
