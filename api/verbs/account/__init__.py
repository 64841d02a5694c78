"""Verbs on accounts and tokens of the service."""
