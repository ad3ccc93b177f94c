"""`python -m momab` is the `momab` command."""

from momab.cli.app import main

main()
