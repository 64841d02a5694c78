"""Genetic programming of formulas that make transition matrices (Mares Soler 2013, section 4.2)."""
