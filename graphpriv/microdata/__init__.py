"""Microdata of a graph: extracted as a table, and protected as one."""
