"""The embedded store: one SQLite file that several processes use at once."""
