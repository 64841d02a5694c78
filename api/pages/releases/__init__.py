"""The pages of releases: the guide, protections side by side, fronts of searches, masked tables."""
