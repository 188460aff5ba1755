"""Serves the page from a copy of the repository: python app.py; a Hugging Face Space starts this file too."""

from playground.__main__ import main

if __name__ == "__main__":
    main()
