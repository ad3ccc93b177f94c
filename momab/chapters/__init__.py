"""One module per chapter: its computations and its figures."""
