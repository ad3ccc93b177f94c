"""The engine: streams, policies, the driver, compiled or not, simulation and its store."""
