"""The engine: streams, policies, the plain loop and its compiled twin, simulation and its store."""
