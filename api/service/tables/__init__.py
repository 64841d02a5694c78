"""The tables of a service: their names, files, hierarchies, and what may be asked of them."""
