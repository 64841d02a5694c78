"""How good a categorical protected file is: all measures of both scores, for a whole file or for what changed in it."""

from tabular.evolution.fitness.contract import Allowed, Fitness, Scores, Segment, State, all_allowed

__all__ = ["Allowed", "Fitness", "Scores", "Segment", "State", "all_allowed"]
