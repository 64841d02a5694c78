"""Table files: read in any dialect, written as they were, replaced as a whole or not at all."""
