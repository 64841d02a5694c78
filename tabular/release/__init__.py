"""What a table may be given away as, and what goes with it."""
