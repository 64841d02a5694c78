"""Fronts of several objectives: what no other node dominates."""
