"""What it takes to release a table: no identifiers, a checked k, a data dictionary, an id."""
