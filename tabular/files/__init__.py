"""Table files: read in any dialect, written back the same way, replaced completely or not at all."""
