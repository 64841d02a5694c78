"""The proven optimum: bounds, branches and certificates."""
