"""Verbs on the store itself."""
