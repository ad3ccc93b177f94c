"""The mathematics: instances, Pareto order, theory, metrics and statistics."""
