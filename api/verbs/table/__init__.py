"""Verbs on tables."""
