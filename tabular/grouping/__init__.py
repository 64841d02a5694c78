"""Groups of similar records: MDAV, medians, cuts, and the blocks that make them quick."""
