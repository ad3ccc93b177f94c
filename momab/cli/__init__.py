"""The `momab` command, one module per group of commands."""
