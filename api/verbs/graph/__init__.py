"""Verbs on graphs."""
