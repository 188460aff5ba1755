"""Where the model and the words lie: assets/ of the repository, or a copy once installed."""

from pathlib import Path

_INSTALLED = Path(__file__).parent / "_assets"  # setup.py puts it there
ASSETS = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1] / "assets"
