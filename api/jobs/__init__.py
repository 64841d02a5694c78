"""Durable jobs: a verb with its options, performed by a worker that may be killed at any moment."""
