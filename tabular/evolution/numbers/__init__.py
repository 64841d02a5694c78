"""How good a protected file of numbers is: all measures of both scores, for a whole file or for what changed in it."""

from tabular.evolution.numbers.fitness import NumberFitness, NumberScores, NumberState

__all__ = ["NumberFitness", "NumberScores", "NumberState"]
