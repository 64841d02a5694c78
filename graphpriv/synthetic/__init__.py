"""Synthetic follow graphs for demonstrations, tests and benchmarks."""
