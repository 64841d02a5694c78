"""Groups of similar records: points, blocks of neighbours that make searches quick, MDAV, and groups of varied size."""
