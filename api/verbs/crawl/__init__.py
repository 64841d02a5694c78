"""Verbs on what networks say: collecting it, and what it is about."""
