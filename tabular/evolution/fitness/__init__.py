"""How good a categorical protected file is: all measures of both scores, for a whole file or for what changed in it."""

from tabular.evolution.fitness.contract import Fitness, Scores, Segment, State

__all__ = ["Fitness", "Scores", "Segment", "State"]
