"""Linkage of masked records with their originals: by distance, by agreement, by what the masking is known to do."""
