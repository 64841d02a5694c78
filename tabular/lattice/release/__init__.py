"""The table of a node: written with labels, and counted again."""
